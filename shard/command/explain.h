// The command explain on a shard. docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

Awaitable<CommandResult> ExplainCommand(CommandContext& context);

}  // namespace evenkeel::shard
