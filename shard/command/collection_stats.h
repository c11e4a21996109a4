// Figures about collections and the engine, and the check of their consistency.
// docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

Awaitable<CommandResult> CollStatsCommand(CommandContext& context);
Awaitable<CommandResult> ShardStatsCommand(CommandContext& context);
Awaitable<CommandResult> ValidateCommand(CommandContext& context);

}  // namespace evenkeel::shard
