// Opening cursors at several shards at once.
#include "router/read/scatter.h"

#include "base/status.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router::read {
namespace {

class ScatterTest : public AwaitTest {
 protected:
  absl::StatusOr<std::vector<ShardStream>> Open() {
    AddSharded("db.s", R"({"k": "hashed"})");
    RouteRetry retry(state(), "db.s", {});
    const RoutePtr route = *Await(retry.Route());
    const auto request =
        wire::ParseRequest(MessageFrom(Json(R"({"ping": 1, "$db": "db"})")), wall().Now());
    CommandContext context{state(), *request, client(), {}, {}};
    return Await(
        OpenStreams(context, route, TargetAll(*route), MessageFrom(Json(R"({"open": 1})"))));
  }
};

TEST_F(ScatterTest, StreamsComeInTheOrderOfTheShards) {
  for (uint32_t i = 0; i < 3; ++i) {
    shard(i).On("open", [i](bson::View) { return CursorReply("[]", 10 + i); });
  }
  const auto streams = Open();
  ASSERT_TRUE(streams.ok());
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*streams)[i].cursor.shard, ShardId{i});
    EXPECT_EQ((*streams)[i].cursor.id, 10 + i);
  }
}

TEST_F(ScatterTest, StaleConfigComesBeforeOtherErrors) {
  shard(0).On("open", [](bson::View) { return FailedReply(MakeError(ErrorCode::kBadValue, "x")); });
  shard(1).On("open", [](bson::View) { return StaleReply(); });
  shard(2).On("open", [](bson::View) { return CursorReply("[]", 12); });
  shard(2).On("killCursors", "{}");
  EXPECT_EQ(CodeOf(Open().status()), ErrorCode::kStaleConfig);
  EXPECT_EQ(shard(2).RequestsOf("killCursors").size(), 1u);
}

TEST_F(ScatterTest, AMalformedReplyIsAnError) {
  for (uint32_t i = 0; i < 3; ++i) shard(i).On("open", "{}");
  EXPECT_EQ(CodeOf(Open().status()), ErrorCode::kInternalError);
}

}  // namespace
}  // namespace evenkeel::router::read
