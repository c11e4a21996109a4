// Handlers of the commands that write, for router/table.cc.
#pragma once

#include "router/command.h"

namespace evenkeel::router::write {

Awaitable<CommandResult> InsertCommand(CommandContext& context);
Awaitable<CommandResult> UpdateCommand(CommandContext& context);
Awaitable<CommandResult> DeleteCommand(CommandContext& context);
Awaitable<CommandResult> BulkWriteCommand(CommandContext& context);
Awaitable<CommandResult> FindAndModifyCommand(CommandContext& context);

}  // namespace evenkeel::router::write
