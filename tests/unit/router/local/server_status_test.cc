// serverStatus.
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class ServerStatusTest : public AwaitTest {};

TEST_F(ServerStatusTest, CountsWhatWasDone) {
  AddUnsharded("db.u", ShardId{1});
  shard(1).On("insert", R"({"n": 2})");
  (void)Run(R"({"insert": "u"})", "documents", {Json(R"({"_id": 1})"), Json(R"({"_id": 2})")});
  wall().Advance(absl::Seconds(61));
  state().options.server_stats = [] {
    wire::ServerStats stats;
    stats.connections_current = 3;
    return stats;
  };
  const bson::Document reply = Run(R"({"serverStatus": 1})");
  EXPECT_EQ(reply["process"].AsString(), "mongos");
  EXPECT_EQ(reply["version"].AsString(), "7.0.0");
  EXPECT_EQ(reply["uptimeEstimate"].AsInt64(), 61);
  EXPECT_EQ(reply["opcounters"].AsDocument()["insert"].AsInt64(), 2);
  EXPECT_EQ(reply["connections"].AsDocument()["current"].AsInt32(), 3);
  EXPECT_GT(reply["mem"].AsDocument()["resident"].AsInt32(), 0);
}

}  // namespace
}  // namespace evenkeel::router
