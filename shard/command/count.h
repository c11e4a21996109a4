// The commands count and distinct on a shard. docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

Awaitable<CommandResult> CountCommand(CommandContext& context);
Awaitable<CommandResult> DistinctCommand(CommandContext& context);

}  // namespace evenkeel::shard
