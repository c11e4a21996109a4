// Moves the documents of a whole collection to other shards while its writes are closed.
// docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

Awaitable<CommandResult> CopyInCommand(CommandContext& context);
Awaitable<CommandResult> CopySessionsCommand(CommandContext& context);

}  // namespace evenkeel::shard
