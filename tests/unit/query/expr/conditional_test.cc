// $cond, $ifNull, $switch.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kDocument = R"({"a": 1, "zero": 0, "n": null})";

TEST(Conditional, OnlyTheBranchTakenIsEvaluated) {
  const Case cases[] = {
      {R"({"$cond": ["$a", "yes", {"$divide": [1, "$zero"]}]})", R"("yes")", kDocument},
      {R"({"$cond": {"if": "$zero", "then": {"$divide": [1, "$zero"]}, "else": 2}})", "2",
       kDocument},
      {R"({"$cond": [true, "$none", 1]})", "", kDocument},
      {R"({"$ifNull": ["$n", "$none", "$a", {"$divide": [1, "$zero"]}]})", "1", kDocument},
      {R"({"$ifNull": ["$n", "$none"]})", "", kDocument},
      {R"({"$switch": {"branches": [{"case": "$zero", "then": 1}, {"case": "$a", "then": 2}]}})",
       "2", kDocument},
      {R"({"$switch": {"branches": [{"case": "$zero", "then": 1}], "default": 9}})", "9",
       kDocument},
  };
  CheckCases(cases);
}

TEST(Conditional, Errors) {
  const ErrorCase errors[] = {
      {R"({"$cond": [1, 2]})", 16020},
      {R"({"$cond": {"then": 1, "else": 2}})", 17080},
      {R"({"$cond": {"if": 1, "else": 2}})", 17081},
      {R"({"$cond": {"if": 1, "then": 2}})", 17082},
      {R"({"$cond": {"if": 1, "then": 2, "else": 3, "x": 4}})", 17083},
      {R"({"$ifNull": ["$a"]})", 1257300},
      {R"({"$ifNull": "$a"})", 1257300},
      {R"({"$switch": 1})", 40060},
      {R"({"$switch": {"branches": 1}})", 40061},
      {R"({"$switch": {"branches": [1]}})", 40062},
      {R"({"$switch": {"branches": [{"x": 1}]}})", 40063},
      {R"({"$switch": {"branches": [{"then": 1}]}})", 40064},
      {R"({"$switch": {"branches": [{"case": 1}]}})", 40065},
      {R"({"$switch": {"branches": [{"case": "$zero", "then": 1}]}})", 40066, kDocument},
      {R"({"$switch": {"branches": [], "x": 1}})", 40067},
      {R"({"$switch": {"branches": []}})", 40068},
      {R"({"$switch": {"branches": [{"case": false, "then": 1}]}})", 40069},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
