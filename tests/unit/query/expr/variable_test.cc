// $let, $literal, system and user variables.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Variable, Let) {
  const Case cases[] = {
      {R"({"$let": {"vars": {"x": "$a", "y": 2}, "in": {"$add": ["$$x", "$$y"]}}})", "7",
       R"({"a": 5})"},
      {R"({"$let": {"vars": {"x": {"b": [{"c": 1}, {"c": 2}]}}, "in": "$$x.b.c"}})", "[1, 2]"},
      // The variables of one $let do not see each other.
      {R"({"$let": {"vars": {"x": 1}, "in":
           {"$let": {"vars": {"x": 2, "y": "$$x"}, "in": ["$$x", "$$y"]}}}})",
       "[2, 1]"},
      {R"({"$let": {"vars": {"CURRENT": "$a"}, "in": "$b"}})", "3", R"({"a": {"b": 3}})"},
      {R"({"$let": {"vars": {"x": "$none"}, "in": "$$x"}})", ""},
      {R"({"$let": {"vars": {}, "in": 1}})", "1"},
  };
  CheckCases(cases);
}

TEST(Variable, LetErrors) {
  const ErrorCase errors[] = {
      {R"({"$let": 1})", 16874},
      {R"({"$let": {"vars": {}, "in": 1, "x": 1}})", 16875},
      {R"({"$let": {"in": 1}})", 16876},
      {R"({"$let": {"vars": {}}})", 16877},
      {R"({"$let": {"vars": 1, "in": 1}})", 10065},
      {R"({"$let": {"vars": {"X": 1}, "in": 1}})", 9},
      {R"({"$let": {"vars": {"a.b": 1}, "in": 1}})", 9},
      {R"({"$let": {"vars": {"x": 1}, "in": "$$y"}})", 17276},
      {R"({"$let": {"vars": {"x": 1}, "in": "$$x."}})", 40353},
      {R"(["$$x", {"$let": {"vars": {"x": 1}, "in": 1}}])", 17276},
  };
  CheckErrors(errors);
}

TEST(Variable, LiteralIsNotEvaluated) {
  const Case cases[] = {
      {R"({"$literal": "$a"})", R"("$a")", R"({"a": 1})"},
      {R"({"$literal": {"$add": [1, 2]}})", R"({"$add": [1, 2]})"},
      {R"({"$const": ["$a"]})", R"(["$a"])"},
  };
  CheckCases(cases);
}

TEST(Variable, System) {
  QueryContext context;
  context.now_ms = 1000;
  context.cluster_time = Timestamp::FromParts(5, 6);
  context.let = FromJsonOrDie(R"({"limit": 10, "o": {"p": "q"}})");
  const Case cases[] = {
      {R"("$$ROOT")", R"({"a": {"b": 1}})", R"({"a": {"b": 1}})"},
      {R"("$$ROOT.a.b")", "1", R"({"a": {"b": 1}})"},
      {R"("$$CURRENT.a")", R"({"b": 1})", R"({"a": {"b": 1}})"},
      {R"("$$NOW")", R"({"$date": {"$numberLong": "1000"}})"},
      {R"("$$CLUSTER_TIME")", R"({"$timestamp": {"t": 5, "i": 6}})"},
      {R"("$$USER_ROLES")", "[]"},
      {R"("$$REMOVE")", ""},
      {R"(["$$REMOVE", 1])", "[null, 1]"},
      {R"({"a": "$$REMOVE", "b": 1})", R"({"b": 1})"},
      {R"("$$limit")", "10"},
      {R"("$$o.p")", R"("q")"},
      {R"("$$KEEP")", R"("keep")"},
  };
  CheckCases(cases, context);
  const ErrorCase errors[] = {
      {R"("$$CLUSTER_TIME")", 10071200},
      {R"("$$remove")", 17276},
      {R"("$$")", 9},
      {R"("$$$")", 9},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
