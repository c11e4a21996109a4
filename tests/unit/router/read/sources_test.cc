// Stages whose documents the router makes.
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class SourcesTest : public RouterTest {
 protected:
  SourcesTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On("_collStats",
                  R"({"count": 10, "size": 1000, "storageSize": 2000, "totalIndexSize": 30,
                                    "indexSizes": {"_id_": 30}})");
    }
  }
  // The rows of a pipeline, which must fit into one batch.
  std::vector<bson::Document> Rows(const std::string& command) {
    const bson::Document reply = Run(command);
    EXPECT_EQ(CodeOfReply(reply), 0) << bson::ToJson(reply);
    std::vector<bson::Document> rows;
    if (CodeOfReply(reply) != 0) return rows;
    for (const auto& [key, row] : reply["cursor"].AsDocument()["firstBatch"].AsDocument()) {
      rows.emplace_back(row.AsDocument());
    }
    return rows;
  }
};

TEST_F(SourcesTest, CollStatsHasARowPerShard) {
  const auto rows =
      Rows(R"({"aggregate": "s", "pipeline": [{"$collStats": {"storageStats": {"scale": 10},)"
           R"( "count": {}}}], "cursor": {}})");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2]["shard"].AsString(), "shard2");
  EXPECT_EQ(rows[2]["ns"].AsString(), "db.s");
  EXPECT_EQ(rows[2]["count"].AsInt32(), 10);
  const bson::View storage = rows[2]["storageStats"].AsDocument();
  EXPECT_EQ(storage["size"].AsInt32(), 100);
  EXPECT_EQ(storage["avgObjSize"].AsInt32(), 100);
  EXPECT_EQ(storage["count"].AsInt32(), 10);
}

TEST_F(SourcesTest, TheRestOfThePipelineRunsOverTheRows) {
  const auto rows = Rows(R"({"aggregate": "s", "pipeline": [{"$collStats": {"count": {}}},)"
                         R"( {"$match": {"shard": "shard1"}},
          {"$project": {"count": 1}}], "cursor": {}})");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(bson::ToJson(rows[0]), R"({"count":10})");
}

TEST_F(SourcesTest, CollStatsOfAnAbsentCollection) {
  EXPECT_EQ(CodeOfReply(
                Run(R"({"aggregate": "absent", "pipeline": [{"$collStats": {"storageStats": {}}}],)"
                    R"( "cursor": {}})")),
            26);
}

TEST_F(SourcesTest, DataDistributionListsShardedCollections) {
  const auto rows =
      Rows(R"({"aggregate": 1, "$db": "admin", "pipeline": [{"$shardedDataDistribution": {}}],)"
           R"( "cursor": {}})");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["ns"].AsString(), "db.s");
  const bson::View first = rows[0]["shards"].AsDocument()["0"].AsDocument();
  EXPECT_EQ(first["shardName"].AsString(), "shard0");
  EXPECT_EQ(first["ownedSizeBytes"].AsInt64(), 1000);
}

TEST_F(SourcesTest, ClusterCatalogListsCollectionsOfTheDatabase) {
  const auto rows = Rows(
      R"({"aggregate": 1, "pipeline": [{"$listClusterCatalog": {"shards": true}}], "cursor": {}})");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["ns"].AsString(), "db.s");
  EXPECT_TRUE(rows[0]["sharded"].AsBool());
  EXPECT_EQ(rows[0]["shards"].AsDocument().CountFields(), 3u);
  EXPECT_EQ(rows[1]["shards"].AsDocument()["0"].AsString(), "shard1");
}

}  // namespace
}  // namespace evenkeel::router
