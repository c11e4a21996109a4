// Internal commands behind writes without the shard key, and the wait of early answers.
// docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

Awaitable<CommandResult> ChooseCommand(CommandContext& context);
Awaitable<CommandResult> FindRecordCommand(CommandContext& context);
Awaitable<CommandResult> TouchCommand(CommandContext& context);
Awaitable<CommandResult> WaitDurableCommand(CommandContext& context);

}  // namespace evenkeel::shard
