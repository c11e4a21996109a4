// What makes a process a shard of the cluster.
#pragma once

#include <absl/status/status.h>

#include "base/bson/document.h"
#include "catalog/assignment.h"
#include "router/command.h"

namespace evenkeel::router {

// The command that gives a shard its identity and its ranges.
bson::Document InitShardRequest(const RouterState& router, ShardId shard,
                                const catalog::Assignment& ranges);

// Sends it to a member; repeatable with the same arguments. Errors: AlreadyInitialized when it is
// another shard, or of another cluster.
Awaitable<absl::Status> InitShard(RouterState& router, ShardId shard, catalog::Assignment ranges);

}  // namespace evenkeel::router
