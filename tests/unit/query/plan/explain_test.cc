// Plans as explain shows them.
#include "query/plan/planner.h"
#include "tests/unit/query/plan/plan_cases.h"

namespace evenkeel::query {
namespace {

std::string Explain(std::string_view filter_json, std::string_view sort_json) {
  const QueryContext context;
  const Filter filter = ParseFilter(filter_json, context);
  const SortPattern sort = *SortPattern::Parse(Json(sort_json));
  IndexDescription index;
  index.name = "a_1_b_-1";
  index.fields = {{bson::Path("a"), true}, {bson::Path("b"), false}};
  index.hashed = {false, false};
  const std::vector<IndexDescription> indexes = {index};
  const PlanRequest request{&filter, &sort, {}};
  return bson::ToJson(ExplainPlan(*ChoosePlan(request, indexes), request));
}

TEST(Explain, ShowsStages) {
  struct ExplainCase {
    std::string_view filter;
    std::string_view sort;
    std::string_view shown;
  };
  constexpr ExplainCase kCases[] = {
      {R"({"_id": 1})", "{}", R"({"stage": "IDHACK"})"},
      {R"({"$alwaysFalse": 1})", "{}", R"({"stage": "EOF"})"},
      {R"({"z": 1})", "{}", R"({"stage": "COLLSCAN", "filter": {"z": 1}, "direction": "forward"})"},
      {"{}", R"({"z": 1})",
       R"({"stage": "SORT", "sortPattern": {"z": 1}, "type": "simple", "inputStage": {"stage": "COLLSCAN", "direction": "forward"}})"},
      {R"({"a": 1, "b": {"$gt": 2}})", R"({"b": 1})",
       R"({"stage": "FETCH", "inputStage": {"stage": "IXSCAN", "keyPattern": {"a": 1, "b": -1}, "indexName": "a_1_b_-1",
           "isMultiKey": false, "isUnique": false, "isSparse": false, "isPartial": false, "indexVersion": 2,
           "direction": "backward", "indexBounds": {"a": ["[1, 1]"], "b": ["(2, Infinity]"]}}})"},
  };
  for (const ExplainCase& test : kCases) {
    EXPECT_EQ(Explain(test.filter, test.sort), bson::ToJson(Json(test.shown))) << test.filter;
  }
}

TEST(Explain, ShowsSeveralIdsAsAScan) {
  const std::string shown = Explain(R"({"_id": {"$in": [1, 2]}})", "{}");
  EXPECT_NE(shown.find("\"IXSCAN\""), std::string::npos) << shown;
  EXPECT_NE(shown.find("[1, 1]"), std::string::npos) << shown;
}

}  // namespace
}  // namespace evenkeel::query
