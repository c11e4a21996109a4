// listShards, getShardMap, flushRouterConfig.
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class ClusterInfoTest : public AwaitTest {};

TEST_F(ClusterInfoTest, ListShards) {
  const bson::Document reply = Run(R"({"listShards": 1, "$db": "admin"})");
  EXPECT_EQ(reply["shards"].AsDocument().CountFields(), 3u);
  EXPECT_EQ(reply["shards"].AsDocument()["1"].AsDocument()["_id"].AsString(), "shard1");
}

TEST_F(ClusterInfoTest, GetShardMap) {
  const bson::Document reply = Run(R"({"getShardMap": 1, "$db": "admin"})");
  EXPECT_EQ(reply["map"].AsDocument()["shard2"].AsString(), "shard2/127.0.0.1:27017");
  EXPECT_EQ(reply["map"].AsDocument()["config"].AsString(), "shard0/127.0.0.1:27017");
  EXPECT_TRUE(reply["hosts"].AsDocument().Contains("127.0.0.1:27017"));
}

TEST_F(ClusterInfoTest, FlushForgetsRoutes) {
  AddUnsharded("db.a", ShardId{1});
  AddUnsharded("db.b", ShardId{1});
  const auto know_both = [this] {
    for (const std::string_view ns : {"db.a", "db.b"}) {
      (void)Await(state().cluster->Lookup(ns, absl::InfiniteFuture(), {}));
    }
  };
  know_both();
  (void)Run(R"({"flushRouterConfig": "db.a", "$db": "admin"})");
  EXPECT_FALSE(state().cluster->routes().Find("db.a"));
  EXPECT_TRUE(state().cluster->routes().Find("db.b"));
  know_both();
  EXPECT_EQ(Fields(Run(R"({"flushRouterConfig": 1, "$db": "admin"})")), R"({"flushed":true})");
  EXPECT_FALSE(state().cluster->routes().Find("db.b"));
}

}  // namespace
}  // namespace evenkeel::router
