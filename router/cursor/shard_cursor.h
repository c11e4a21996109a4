// One shard's cursor as the router holds it, and the requests for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "router/cluster.h"

namespace evenkeel::router {

struct ShardCursor {
  ShardId shard;
  int64_t id = 0;  // of the shard; 0: it has nothing more
  std::string ns;  // that the shard knows
};

// {getMore: id, collection, batchSize}. `rows` nothing: as many as fit.
ShardCall GetMoreCall(const ShardCursor& cursor, std::optional<int64_t> rows);
// Ends the cursors whose id is not 0, all at once; failures are ignored.
Awaitable<void> KillShardCursors(Cluster& cluster, std::vector<ShardCursor> cursors);

}  // namespace evenkeel::router
