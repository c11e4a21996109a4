// Arrays as sets.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Set, Results) {
  const Case cases[] = {
      {R"({"$allElementsTrue": [[1, "a", []]]})", "true"},
      {R"({"$allElementsTrue": [[1, 0]]})", "false"},
      {R"({"$anyElementTrue": [[0, null]]})", "false"},
      {R"({"$anyElementTrue": [[0, 1]]})", "true"},
      {R"({"$setDifference": [[3, 1, 3, 2], [1, 5]]})", "[3, 2]"},
      {R"({"$setDifference": [null, [1]]})", "null"},
      {R"({"$setEquals": [[1, 2, 2], [2, 1.0], [1, 2]]})", "true"},
      {R"({"$setEquals": [[1], [1, 2]]})", "false"},
      {R"({"$setIntersection": [[3, 1, 2], [2, 3, 9]]})", "[2, 3]"},
      {R"({"$setIntersection": []})", "[]"},
      {R"({"$setIntersection": [[1], null]})", "null"},
      {R"({"$setIsSubset": [[1, 1], [2, 1]]})", "true"},
      {R"({"$setIsSubset": [[[1]], [1]]})", "false"},
      {R"({"$setUnion": [[2, 1], [1, 3]]})", "[1, 2, 3]"},
      {R"({"$setUnion": [[1], null]})", "null"},
  };
  CheckCases(cases);
}

TEST(Set, Errors) {
  const ErrorCase errors[] = {
      {R"({"$allElementsTrue": [1]})", 17040},   {R"({"$anyElementTrue": [1]})", 17041},
      {R"({"$setDifference": [1, []]})", 17048}, {R"({"$setDifference": [[], 1]})", 17049},
      {R"({"$setEquals": [[], 1]})", 17044},     {R"({"$setIntersection": [1]})", 17047},
      {R"({"$setIsSubset": [1, []]})", 17046},   {R"({"$setIsSubset": [[], 1]})", 17042},
      {R"({"$setUnion": [1]})", 17043},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
