// Access to elements, search, parts and joining of arrays.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kDocument = R"({"a": [10, 20, 30], "e": [], "n": null, "s": "x"})";

TEST(Array, Results) {
  const Case cases[] = {
      {R"({"$arrayElemAt": ["$a", 1]})", "20", kDocument},
      {R"({"$arrayElemAt": ["$a", -1]})", "30", kDocument},
      {R"({"$arrayElemAt": ["$a", 3]})", "", kDocument},
      {R"({"$arrayElemAt": ["$a", -4]})", "", kDocument},
      {R"({"$arrayElemAt": ["$n", 0]})", "null", kDocument},
      {R"({"$first": "$a"})", "10", kDocument},
      {R"({"$last": "$a"})", "30", kDocument},
      {R"({"$first": "$e"})", "", kDocument},
      {R"({"$concatArrays": ["$a", [1], []]})", "[10, 20, 30, 1]", kDocument},
      {R"({"$concatArrays": ["$a", "$n"]})", "null", kDocument},
      {R"({"$in": [20, "$a"]})", "true", kDocument},
      {R"({"$in": ["$s", ["x", "y"]]})", "true", kDocument},
      {R"({"$in": [20.0, [1, 20]]})", "true"},
      {R"({"$indexOfArray": ["$a", 30]})", "2", kDocument},
      {R"({"$indexOfArray": ["$a", 30, 0, 2]})", "-1", kDocument},
      {R"({"$isArray": ["$a"]})", "true", kDocument},
      {R"({"$isArray": "$s"})", "false", kDocument},
      {R"({"$range": [0, 10, 3]})", "[0, 3, 6, 9]"},
      {R"({"$range": [5, 0, -2]})", "[5, 3, 1]"},
      {R"({"$range": [0, 0]})", "[]"},
      {R"({"$range": [0, -5]})", "[]"},
      {R"({"$reverseArray": "$a"})", "[30, 20, 10]", kDocument},
      {R"({"$size": "$a"})", "3", kDocument},
      {R"({"$slice": ["$a", 2]})", "[10, 20]", kDocument},
      {R"({"$slice": ["$a", -2]})", "[20, 30]", kDocument},
      {R"({"$slice": ["$a", -9]})", "[10, 20, 30]", kDocument},
      {R"({"$slice": ["$a", 1, 1]})", "[20]", kDocument},
      {R"({"$slice": ["$a", -2, 1]})", "[20]", kDocument},
      {R"({"$slice": ["$a", 9, 1]})", "[]", kDocument},
  };
  CheckCases(cases);
}

TEST(Array, Errors) {
  const ErrorCase errors[] = {
      {R"({"$arrayElemAt": ["$s", 0]})", 28689, kDocument},
      {R"({"$arrayElemAt": ["$a", "x"]})", 28690, kDocument},
      {R"({"$arrayElemAt": ["$a", 1.5]})", 28691, kDocument},
      {R"({"$first": "$s"})", 28689, kDocument},
      {R"({"$concatArrays": ["$a", "$s"]})", 28664, kDocument},
      {R"({"$in": [1, "$s"]})", 40081, kDocument},
      {R"({"$indexOfArray": ["$s", 1]})", 40090, kDocument},
      {R"({"$indexOfArray": ["$a", 1, "x"]})", 40096, kDocument},
      {R"({"$indexOfArray": ["$a", 1, -1]})", 40097, kDocument},
      {R"({"$range": ["x", 1]})", 34443},
      {R"({"$range": [1.5, 1]})", 34444},
      {R"({"$range": [1, "x"]})", 34445},
      {R"({"$range": [1, 1.5]})", 34446},
      {R"({"$range": [1, 2, "x"]})", 34447},
      {R"({"$range": [1, 2, 1.5]})", 34448},
      {R"({"$range": [1, 2, 0]})", 34449},
      {R"({"$range": [0, 2147483647]})", 146},
      {R"({"$reverseArray": "$s"})", 34435, kDocument},
      {R"({"$size": "$n"})", 17124, kDocument},
      {R"({"$slice": ["$s", 1]})", 28724, kDocument},
      {R"({"$slice": ["$a", "x"]})", 28725, kDocument},
      {R"({"$slice": ["$a", 1.5]})", 28726, kDocument},
      {R"({"$slice": ["$a", 1, "x"]})", 28727, kDocument},
      {R"({"$slice": ["$a", 1, 0]})", 28729, kDocument},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
