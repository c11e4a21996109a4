// The findAndModify command's fields.
#include "query/request/find_and_modify_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"findAndModify": "c", "remove": true})"},
    {R"({"findAndModify": "c", "update": {}})"},
    {R"({"findAndModify": "c", "update": []})"},
    {R"({"findAndModify": "c"})", 9},
    {R"({"findAndModify": "c", "update": {}, "remove": true})", 9},
    {R"({"findAndModify": "c", "remove": true, "new": true})", 9},
    {R"({"findAndModify": "c", "remove": true, "upsert": true})", 9},
    {R"({"findAndModify": "c", "remove": true, "arrayFilters": []})", 9},
    {R"({"findAndModify": "c", "update": 1})", 9},
    {R"({"findAndModify": "c", "update": {}, "query": 1})", 14},
    {R"({"findAndModify": "c", "update": {}, "new": "x"})", 14},
    {R"({"findAndModify": "c", "update": {}, "hint": 1})", 9},
    {R"({"findAndModify": "c", "update": {}, "nope": 1})", 40415},
};

TEST(FindAndModifyRequest, Errors) { CheckCommands(ParseFindAndModify, kCases); }

TEST(FindAndModifyRequest, Fields) {
  const bson::Document command = Json(
      R"({"findAndModify": "c", "query": {"a": 1}, "update": {"b": 1}, "new": 1, "upsert": true, "fields": {"x": 1}, "sort": {"s": 1}})");
  const absl::StatusOr<FindAndModifyRequest> request = ParseFindAndModify(command);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_TRUE(request->return_new && request->upsert && !request->remove);
  EXPECT_TRUE(request->query.Contains("a"));
  EXPECT_TRUE(request->fields.Contains("x"));
  EXPECT_TRUE(request->sort.Contains("s"));
}

}  // namespace
}  // namespace evenkeel::query
