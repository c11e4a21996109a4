// $and, $not, $or and where they stop.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Boolean, Truth) {
  const Case cases[] = {
      {R"({"$and": []})", "true"},
      {R"({"$or": []})", "false"},
      {R"({"$and": [1, "", []]})", "true"},
      {R"({"$and": [1, null]})", "false"},
      {R"({"$and": ["$none"]})", "false"},
      {R"({"$or": [0, {"$numberDecimal": "0"}, 0.0, false]})", "false"},
      {R"({"$or": [0, {}]})", "true"},
      {R"({"$not": [0]})", "true"},
      {R"({"$not": "$a"})", "false", R"({"a": []})"},
  };
  CheckCases(cases);
}

TEST(Boolean, StopsAsSoonAsItIsKnown) {
  const Case cases[] = {
      {R"({"$or": [true, {"$divide": [1, "$zero"]}]})", "true", R"({"zero": 0})"},
      {R"({"$and": ["$zero", {"$divide": [1, "$zero"]}]})", "false", R"({"zero": 0})"},
      // A deciding constant at the end makes the rest irrelevant.
      {R"({"$or": [{"$divide": [1, "$zero"]}, true]})", "true", R"({"zero": 0})"},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {
      {R"({"$or": [{"$divide": [1, "$zero"]}, "$a"]})", 2, R"({"zero": 0, "a": 1})"},
      {R"({"$not": [1, 2]})", 16020},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
