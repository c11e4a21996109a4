// Which filters imply which.
#include "query/plan/planner.h"
#include "tests/unit/query/plan/plan_cases.h"

namespace evenkeel::query {
namespace {

TEST(Implication, OfFilters) {
  struct ImplicationCase {
    std::string_view filter;
    std::string_view partial;
    bool implied = true;
  };
  constexpr ImplicationCase kCases[] = {
      {R"({"a": 1})", "{}"},
      {R"({"a": 1})", R"({"a": 1})"},
      {R"({"a": 1})", R"({"a": {"$exists": true}})"},
      {R"({"a": {"$gt": 5}})", R"({"a": {"$exists": true}})"},
      {R"({"a": null})", R"({"a": {"$exists": true}})", false},
      {R"({"a": 7})", R"({"a": {"$gt": 5}})"},
      {R"({"a": 3})", R"({"a": {"$gt": 5}})", false},
      {R"({"a": {"$in": [6, 7]}})", R"({"a": {"$gt": 5}})"},
      {R"({"a": {"$in": [5, 7]}})", R"({"a": {"$gt": 5}})", false},
      {R"({"a": {"$gte": 6, "$lt": 9}})", R"({"a": {"$gt": 5}})"},
      {R"({"a": 7, "b": 1})", R"({"a": {"$gt": 5}, "b": 1})"},
      {R"({"a": 7})", R"({"a": {"$gt": 5}, "b": 1})", false},
      {R"({"$or": [{"a": 7}, {"a": 8}]})", R"({"a": {"$gt": 5}})"},
      {R"({"$or": [{"a": 7}, {"b": 8}]})", R"({"a": {"$gt": 5}})", false},
      {R"({"a": 7})", R"({"$or": [{"a": {"$gt": 5}}, {"b": 1}]})"},
      {R"({"a": {"$ne": 1}})", R"({"a": {"$ne": 1}})", false},
      {R"({"a": "x"})", R"({"a": {"$type": "string"}})", false},
  };
  const QueryContext context;
  for (const ImplicationCase& test : kCases) {
    EXPECT_EQ(Implies(ParseFilter(test.filter, context), ParseFilter(test.partial, context)),
              test.implied)
        << test.filter << " implies " << test.partial;
  }
}

}  // namespace
}  // namespace evenkeel::query
