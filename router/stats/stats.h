// Handlers of the commands that list and measure databases, collections and indexes, for
// router/table.cc.
#pragma once

#include "router/command.h"

namespace evenkeel::router::stats {

Awaitable<CommandResult> CollStatsCommand(CommandContext& context);
Awaitable<CommandResult> DataSizeCommand(CommandContext& context);
Awaitable<CommandResult> DbStatsCommand(CommandContext& context);
Awaitable<CommandResult> ListDatabasesCommand(CommandContext& context);
Awaitable<CommandResult> ListCollectionsCommand(CommandContext& context);
Awaitable<CommandResult> ListIndexesCommand(CommandContext& context);
Awaitable<CommandResult> ValidateCommand(CommandContext& context);

}  // namespace evenkeel::router::stats
