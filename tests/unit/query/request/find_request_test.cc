// The find command's fields.
#include "query/request/find_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"find": "c"})"},
    {R"({"find": "c", "filter": 1})", 14},
    {R"({"find": "c", "limit": -1})", 51024},
    {R"({"find": "c", "skip": -1})", 51024},
    {R"({"find": "c", "batchSize": -1})", 51024},
    {R"({"find": "c", "limit": "1"})", 14},
    {R"({"find": "c", "hint": 1})", 9},
    {R"({"find": "c", "foo": 1})", 40415},
    {R"({"find": "c", "awaitData": true})", 9},
    {R"({"find": "c", "tailable": true, "singleBatch": true})", 9},
    {R"({"find": "c", "$db": "d", "comment": 1, "maxTimeMS": 5, "readConcern": {}})"},
};

TEST(FindRequest, Errors) { CheckCommands(ParseFind, kCases); }

TEST(FindRequest, Fields) {
  const bson::Document command = Json(
      R"({"find": "c", "filter": {"a": 1}, "projection": {"b": 1}, "sort": {"c": 1}, "skip": 2, "limit": 3.0, "batchSize": 0,
          "singleBatch": true, "let": {"x": 1}, "allowDiskUse": false, "hint": {"a": 1}})");
  const absl::StatusOr<FindRequest> request = ParseFind(command);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_TRUE(request->filter.Contains("a"));
  EXPECT_TRUE(request->projection.Contains("b"));
  EXPECT_TRUE(request->sort.Contains("c"));
  EXPECT_TRUE(request->let.Contains("x"));
  EXPECT_EQ(request->skip, 2);
  EXPECT_EQ(request->limit, 3);
  EXPECT_EQ(request->batch_size, 0);
  EXPECT_TRUE(request->single_batch);
  EXPECT_EQ(request->allow_disk_use, false);
  EXPECT_TRUE(request->hint.Is(bson::Type::kObject));
}

}  // namespace
}  // namespace evenkeel::query
