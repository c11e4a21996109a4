// Requests for the cursors of shards.
#include "router/cursor/shard_cursor.h"

#include <absl/time/clock.h>

#include <utility>

#include "base/bson/builder.h"
#include "catalog/collection.h"
#include "router/shard_request.h"

namespace evenkeel::router {
namespace {

// Killing is a courtesy; it must not hold up the client for long.
constexpr absl::Duration kKillTimeMax = absl::Seconds(5);

}  // namespace

ShardCall GetMoreCall(const ShardCursor& cursor, std::optional<int64_t> rows) {
  const catalog::Namespace ns = catalog::SplitNamespace(cursor.ns);
  bson::Builder body;
  body.Append("getMore", cursor.id).Append("collection", ns.collection);
  if (rows) body.Append("batchSize", *rows);
  body.Append("$db", ns.database);
  return {cursor.shard, MakeMessage(body.Finish())};
}

Awaitable<void> KillShardCursors(Cluster& cluster, std::vector<ShardCursor> cursors) {
  std::vector<ShardCall> calls;
  for (const ShardCursor& cursor : cursors) {
    if (cursor.id == 0) continue;
    const catalog::Namespace ns = catalog::SplitNamespace(cursor.ns);
    bson::Builder body;
    body.Append("killCursors", ns.collection).OpenArray("cursors").Append("0", cursor.id).Close();
    body.Append("$db", ns.database);
    calls.push_back({cursor.shard, MakeMessage(body.Finish())});
  }
  if (calls.empty()) co_return;
  // The client may be gone already, so its cancellation does not count here.
  CallScope scope{absl::Now() + kKillTimeMax, {}};
  (void)co_await cluster.SendAll(std::move(calls), std::move(scope));
}

}  // namespace evenkeel::router
