// The update command's fields and statements.
#include "query/request/update_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"update": "c", "updates": [{"q": {}, "u": {}}]})"},
    {R"({"update": "c", "updates": [{"q": {}, "u": []}]})"},
    {R"({"update": "c"})", 40414},
    {R"({"update": "c", "updates": []})", 16},
    {R"({"update": "c", "updates": [{"u": {}}]})", 40414},
    {R"({"update": "c", "updates": [{"q": {}}]})", 40414},
    {R"({"update": "c", "updates": [{"q": 1, "u": {}}]})", 14},
    {R"({"update": "c", "updates": [{"q": {}, "u": 1}]})", 9},
    {R"({"update": "c", "updates": [{"q": {}, "u": {}, "multi": 1}]})", 14},
    {R"({"update": "c", "updates": [{"q": {}, "u": {}, "hint": 1}]})", 9},
    {R"({"update": "c", "updates": [{"q": {}, "u": {}, "arrayFilters": [1]}]})", 14},
    {R"({"update": "c", "updates": [{"q": {}, "u": {}, "nope": 1}]})", 40415},
    {R"({"update": "c", "updates": [{"q": {}, "u": {}, "sort": {"a": 1}, "multi": true}]})", 9},
    {R"({"update": "c", "updates": [{"q": {}, "u": {}, "c": {"a": 1}}]})", 51198},
    {R"({"update": "c", "updates": [{"q": {}, "u": [], "c": {"a": 1}}]})"},
    {R"({"update": "c", "updates": [{"q": {}, "u": {}}], "let": 1})", 14},
};

TEST(UpdateRequest, Errors) {
  CheckCommands([](bson::View command) { return ParseUpdate(command); }, kCases);
}

TEST(UpdateRequest, Statements) {
  const bson::Document command = Json(
      R"({"update": "c", "ordered": false, "updates": [{"q": {"a": 1}, "u": {"$set": {"b": 1}}, "multi": true, "upsert": true,
          "arrayFilters": [{"x": 1}], "hint": "h", "collation": {"locale": "en"}}, {"q": {}, "u": [], "sort": {"a": 1}}]})");
  const absl::StatusOr<UpdateRequest> request = ParseUpdate(command);
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->updates.size(), 2u);
  const UpdateStatement& first = request->updates[0];
  EXPECT_TRUE(first.multi && first.upsert && first.has_array_filters);
  EXPECT_EQ(first.array_filters.CountFields(), 1u);
  EXPECT_EQ(first.hint.AsString(), "h");
  EXPECT_TRUE(first.collation.Contains("locale"));
  EXPECT_FALSE(request->updates[1].has_array_filters);
  EXPECT_TRUE(request->updates[1].sort.Contains("a"));
  EXPECT_FALSE(request->ordered);
}

}  // namespace
}  // namespace evenkeel::query
