// The aggregate command's fields.
#include "query/request/aggregate_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"aggregate": "c", "pipeline": [], "cursor": {}})"},
    {R"({"aggregate": 1, "pipeline": [], "cursor": {}})"},
    {R"({"aggregate": "c", "pipeline": [], "explain": true})"},
    {R"({"aggregate": "c", "pipeline": []})", 9},
    {R"({"aggregate": "c", "cursor": {}})", 40414},
    {R"({"aggregate": "c", "pipeline": null, "cursor": {}})", 14},
    {R"({"aggregate": "c", "pipeline": {}, "cursor": {}})", 14},
    {R"({"aggregate": "c", "pipeline": [1], "cursor": {}})", 14},
    {R"({"aggregate": "c", "pipeline": [], "cursor": 1})", 14},
    {R"({"aggregate": "c", "pipeline": [], "cursor": {"batchSize": -1}})", 2},
    {R"({"aggregate": "c", "pipeline": [], "cursor": {"batchSize": "1"}})", 14},
    {R"({"aggregate": "c", "pipeline": [], "cursor": {"nope": 1}})", 40415},
    {R"({"aggregate": "c", "pipeline": [], "cursor": {}, "hint": 1})", 9},
    {R"({"aggregate": "c", "pipeline": [], "cursor": {}, "nope": 1})", 40415},
    {R"({"aggregate": 2, "pipeline": [], "cursor": {}})", 2},
    {R"({"aggregate": true, "pipeline": [], "cursor": {}})", 73},
};

TEST(AggregateRequest, Errors) { CheckCommands(ParseAggregate, kCases); }

TEST(AggregateRequest, Fields) {
  const bson::Document command = Json(
      R"({"aggregate": 1, "pipeline": [{"$match": {}}], "cursor": {"batchSize": 5}, "allowDiskUse": true})");
  const absl::StatusOr<AggregateRequest> request = ParseAggregate(command);
  ASSERT_TRUE(request.ok());
  EXPECT_TRUE(request->whole_database && request->has_cursor);
  EXPECT_EQ(request->batch_size, 5);
  EXPECT_EQ(request->allow_disk_use, true);
  EXPECT_EQ(request->pipeline.CountFields(), 1u);
}

}  // namespace
}  // namespace evenkeel::query
