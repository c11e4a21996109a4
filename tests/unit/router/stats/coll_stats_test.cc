// collStats, dbStats, validate.
#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class CollStatsTest : public RouterTest {
 protected:
  CollStatsTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
    AddView("db.v", "u", "[]");
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On("_collStats",
                  R"({"count": 10, "size": 1000, "storageSize": 2000, "totalIndexSize": 30,
                                    "indexSizes": {"_id_": 30}})");
      shard(i).On("validate",
                  R"({"valid": true, "nrecords": 10, "keysPerIndex": {"_id_": 10}, "errors": [],)"
                  R"( "warnings": []})");
    }
  }
};

TEST_F(CollStatsTest, FiguresOfAllShardsAreSummedAndShown) {
  const bson::Document reply = Run(R"({"collStats": "s", "scale": 10})");
  EXPECT_TRUE(reply["sharded"].AsBool());
  EXPECT_EQ(reply["count"].AsInt32(), 30);
  EXPECT_EQ(reply["size"].AsInt32(), 300);
  EXPECT_EQ(reply["avgObjSize"].AsInt32(), 100);
  EXPECT_EQ(reply["indexSizes"].AsDocument()["_id_"].AsInt32(), 9);
  EXPECT_EQ(reply["nchunks"].AsInt32(), 3);
  EXPECT_EQ(reply["shards"].AsDocument()["shard1"].AsDocument()["count"].AsInt32(), 10);
  EXPECT_FALSE(reply.view().Contains("primary"));
}

TEST_F(CollStatsTest, UnshardedAbsentAndViews) {
  EXPECT_EQ(Run(R"({"collStats": "u"})")["primary"].AsString(), "shard1");
  EXPECT_EQ(Run(R"({"collStats": "absent"})")["count"].AsInt32(), 0);
  EXPECT_EQ(CodeOfReply(Run(R"({"collStats": "v"})")), 166);
  EXPECT_EQ(CodeOfReply(Run(R"({"collStats": "u", "scale": 0})")), 2);
}

TEST_F(CollStatsTest, DbStatsSumsTheCollections) {
  const bson::Document reply = Run(R"({"dbStats": 1})");
  EXPECT_EQ(reply["db"].AsString(), "db");
  EXPECT_EQ(reply["collections"].AsInt64(), 2);
  EXPECT_EQ(reply["views"].AsInt64(), 1);
  EXPECT_EQ(reply["objects"].AsInt64(), 40);
  EXPECT_EQ(reply["dataSize"].AsDouble(), 4000);
}

TEST_F(CollStatsTest, ValidateCombinesTheShards) {
  shard(2).Next("validate",
                R"({"valid": false, "nrecords": 5, "keysPerIndex": {"_id_": 4}, "errors": ["bad"],)"
                R"( "warnings": []})");
  const bson::Document reply = Run(R"({"validate": "s"})");
  EXPECT_FALSE(reply["valid"].AsBool());
  EXPECT_EQ(reply["nrecords"].AsInt64(), 25);
  EXPECT_EQ(reply["keysPerIndex"].AsDocument()["_id_"].AsInt64(), 24);
  EXPECT_EQ(reply["errors"].AsDocument()["0"].AsString(), "shard2: bad");
  EXPECT_EQ(CodeOfReply(Run(R"({"validate": "absent"})")), 26);
}

TEST_F(CollStatsTest, StaleRoutesAreRepeated) {
  shard(1).Next("_collStats", StaleReply());
  EXPECT_EQ(Run(R"({"collStats": "u"})")["count"].AsInt32(), 10);
}

}  // namespace
}  // namespace evenkeel::router
