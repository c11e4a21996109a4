// Calls to shards and the lookup of routes.
#include "router/cluster.h"

#include "base/status.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class ClusterTest : public AwaitTest {
 protected:
  absl::StatusOr<RoutePtr> Lookup(std::string_view ns) {
    return Await(state().cluster->Lookup(ns, absl::InfiniteFuture(), {}));
  }
};

TEST_F(ClusterTest, ShardNames) {
  const Cluster& cluster = *state().cluster;
  EXPECT_EQ(Cluster::ShardName(ShardId{2}), "shard2");
  EXPECT_EQ(cluster.FindShard("shard2"), ShardId{2});
  for (const std::string_view bad : {"shard3", "shard02", "shard", "s0", "shard1x", ""}) {
    EXPECT_EQ(cluster.FindShard(bad), std::nullopt) << bad;
  }
}

TEST_F(ClusterTest, RoutesAreLookedUpOnceAndAbsentNamesAlways) {
  AddSharded("db.c", R"({"k": "hashed"})");
  ASSERT_TRUE(*Lookup("db.c"));
  EXPECT_EQ((*Lookup("db.c"))->Shards().size(), 3u);
  EXPECT_EQ(shard(0).RequestsOf("find").size(), 2u) << "the entry and its ranges, once";
  EXPECT_FALSE(*Lookup("db.absent"));
  EXPECT_FALSE(*Lookup("db.absent"));
  EXPECT_EQ(shard(0).RequestsOf("find").size(), 4u);
}

TEST_F(ClusterTest, ConfigCollectionsNeedNoLookup) {
  EXPECT_EQ((*Lookup("config.chunks"))->entry->primary, ShardId{0});
  EXPECT_FALSE(*Lookup("config.nothing"));
  EXPECT_TRUE(shard(0).requests().empty());
}

TEST_F(ClusterTest, ErrorRepliesBecomeStatuses) {
  shard(1).On("x", [](bson::View) { return FailedReply(MakeError(ErrorCode::kBadValue, "no")); });
  shard(2).On("x", R"({"y": 1})");
  std::vector<ShardCall> calls;
  for (uint32_t i : {2u, 1u}) calls.push_back({ShardId{i}, MessageFrom(Json(R"({"x": 1})"))});
  const auto replies =
      Await(state().cluster->CallAll(std::move(calls), absl::InfiniteFuture(), {}));
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ((*replies[0])["y"].AsInt32(), 1);
  EXPECT_EQ(CodeOf(replies[1].status()), ErrorCode::kBadValue);
}

TEST_F(ClusterTest, OperationTimesMoveTheClock) {
  const Timestamp ahead = Timestamp::FromParts(state().clock->Now().seconds() + 5, 9);
  shard(1).On("x", [ahead](bson::View) {
    bson::Builder reply;
    reply.Append("operationTime", ahead);
    return reply.Finish();
  });
  (void)Await(state().cluster->Call(ShardId{1}, Json(R"({"x": 1})"), absl::InfiniteFuture(), {}));
  EXPECT_GE(state().clock->Now(), ahead);
}

}  // namespace
}  // namespace evenkeel::router
