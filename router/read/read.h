// Handlers of the commands that read, for router/table.cc.
#pragma once

#include "router/command.h"

namespace evenkeel::router::read {

Awaitable<CommandResult> FindCommand(CommandContext& context);
Awaitable<CommandResult> GetMoreCommand(CommandContext& context);
Awaitable<CommandResult> KillCursorsCommand(CommandContext& context);
Awaitable<CommandResult> CountCommand(CommandContext& context);
Awaitable<CommandResult> DistinctCommand(CommandContext& context);
Awaitable<CommandResult> AggregateCommand(CommandContext& context);
Awaitable<CommandResult> ExplainCommand(CommandContext& context);

}  // namespace evenkeel::router::read
