// The commands update and delete on a shard. docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

Awaitable<CommandResult> UpdateCommand(CommandContext& context);
Awaitable<CommandResult> DeleteCommand(CommandContext& context);

}  // namespace evenkeel::shard
