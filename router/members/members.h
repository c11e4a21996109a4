// Commands that change who the shards of the cluster are. Handlers, for router/table.cc.
#pragma once

#include "router/command.h"

namespace evenkeel::router::members {

// Steps, each of which may be done again after a crash: a number is taken and a row "shardN" in
// config.sequences says that it waits for its shard; the process gets its identity; one batch puts
// the row in config.shards and ends the waiting.
Awaitable<CommandResult> AddShardCommand(CommandContext& context);

// Draining is a mark in config.shards: a shard that has it gets nothing new, and what it has is
// moved elsewhere by the balancer. Empty, it can be removed.
Awaitable<CommandResult> StartShardDrainingCommand(CommandContext& context);
Awaitable<CommandResult> StopShardDrainingCommand(CommandContext& context);
Awaitable<CommandResult> ShardDrainingStatusCommand(CommandContext& context);
Awaitable<CommandResult> CommitShardRemovalCommand(CommandContext& context);
// All of them in turn, by being called again.
Awaitable<CommandResult> RemoveShardCommand(CommandContext& context);

}  // namespace evenkeel::router::members
