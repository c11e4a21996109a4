// Builds and sends _initShard.
#include "router/members/init_shard.h"

#include <utility>

#include "base/bson/builder.h"
#include "router/cluster.h"
#include "router/router.h"

namespace evenkeel::router {

bson::Document InitShardRequest(const RouterState& router, ShardId shard,
                                const catalog::Assignment& ranges) {
  bson::Builder body;
  body.Append("_initShard", int32_t{1})
      .AppendObjectId("clusterId", router.cluster_id)
      .Append("shard", static_cast<int32_t>(shard.value))
      .Append("assignment", ranges.ToBson());
  return body.Finish();
}

Awaitable<absl::Status> InitShard(RouterState& router, ShardId shard, catalog::Assignment ranges) {
  co_return (co_await router.cluster->Call(shard, InitShardRequest(router, shard, ranges),
                                           absl::InfiniteFuture(), {}))
      .status();
}

}  // namespace evenkeel::router
