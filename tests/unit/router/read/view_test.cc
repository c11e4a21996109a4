// Reads on views as pipelines.
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class ViewTest : public RouterTest {
 protected:
  ViewTest() {
    AddUnsharded("db.u", ShardId{1});
    AddView("db.v", "u", R"([{"$match": {"x": 1}}])");
  }
  std::string PipelineAsked() {
    return bson::ToJson(shard(1).RequestsOf("aggregate")[0]["pipeline"].AsDocument());
  }
};

TEST_F(ViewTest, FindBecomesAPipeline) {
  shard(1).On("aggregate", [](bson::View) { return CursorReply(R"([{"a": 1}])"); });
  const bson::Document reply =
      Run(R"({"find": "v", "filter": {"y": 2}, "sort": {"a": 1}, "skip": 1, "limit": 3,)"
          R"( "projection": {"a": 1}})");
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"a":1}],"id":0,"ns":"db.v"}})");
  EXPECT_EQ(
      PipelineAsked(),
      R"({"0":{"$match":{"x":1}},"1":{"$match":{"y":2}},"2":{"$sort":{"a":1}},"3":{"$skip":1},)"
      R"("4":{"$limit":3},"5":{"$project":{"a":1}}})");
}

TEST_F(ViewTest, CountTakesTheNumberOfThePipeline) {
  shard(1).Next("aggregate", CursorReply(R"([{"n": 4}])"));
  EXPECT_EQ(Fields(Run(R"({"count": "v", "query": {"y": 2}})")), R"({"n":4})");
  shard(1).Next("aggregate", CursorReply("[]"));
  EXPECT_EQ(Fields(Run(R"({"count": "v"})")), R"({"n":0})");
}

TEST_F(ViewTest, DistinctCollectsFromTheRows) {
  shard(1).Next("aggregate", CursorReply(R"([{"a": [2, 1]}, {"a": 1}, {}])"));
  EXPECT_EQ(Fields(Run(R"({"distinct": "v", "key": "a"})")), R"({"values":[1,2]})");
}

TEST_F(ViewTest, OptionsThatNeedACollectionAreRefused) {
  EXPECT_EQ(CodeOfReply(Run(R"({"find": "v", "showRecordId": true})")), 168);
}

}  // namespace
}  // namespace evenkeel::router
