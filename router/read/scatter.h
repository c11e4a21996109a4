// Opening cursors at shards: one passed through, or several merged.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "router/cursor/cursors.h"
#include "router/cursor/merge_cursor.h"
#include "router/retry.h"
#include "router/target.h"

namespace evenkeel::router::read {

// Sends `message` to one shard and passes its reply and cursor on to the client.
Awaitable<CommandResult> ForwardCursorCommand(CommandContext& context, RoutePtr route,
                                              ShardId shard, wire::Message message,
                                              FirstBatch first);

// Sends `message` to all `shards` at once. If one fails, the cursors of the others are ended and
// its error returned, StaleConfig before others.
Awaitable<absl::StatusOr<std::vector<ShardStream>>> OpenStreams(CommandContext& context,
                                                                RoutePtr route, Targets targets,
                                                                wire::Message message);

// A cursor over the streams, which are ended when it cannot be made.
Awaitable<absl::StatusOr<std::unique_ptr<ClientCursor>>> MergeStreams(
    CommandContext& context, MergeOptions options, std::vector<ShardStream> streams);

}  // namespace evenkeel::router::read
