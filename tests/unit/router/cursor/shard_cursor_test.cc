// Requests for cursors of shards.
#include "router/cursor/shard_cursor.h"

#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class ShardCursorTest : public AwaitTest {};

TEST_F(ShardCursorTest, GetMoreNamesTheCollection) {
  const ShardCall call = GetMoreCall({ShardId{2}, 5, "db.c"}, std::nullopt);
  EXPECT_EQ(call.shard, ShardId{2});
  EXPECT_EQ(bson::ToJson(call.message.body), R"({"getMore":5,"collection":"c","$db":"db"})");
}

TEST_F(ShardCursorTest, KillingLeavesOutEndedCursorsAndIgnoresFailures) {
  shard(0).On("killCursors", [](bson::View) { return StaleReply(); });
  AwaitVoid(KillShardCursors(*state().cluster, {{ShardId{0}, 5, "db.c"}, {ShardId{1}, 0, "db.c"}}));
  EXPECT_EQ(CountsOf("killCursors"), (std::vector<size_t>{1, 0, 0}));
}

}  // namespace
}  // namespace evenkeel::router
