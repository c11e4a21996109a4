// _setFailPoint {_setFailPoint: "name=mode"}: sets a fail point of this process, in the text form
// of base::ConfigureFailPoints. A router with test commands sends it; docs/internal_protocol.md.
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

// Returns  {count}: how often the point was hit before.
// Errors   FailedToParse.
Awaitable<CommandResult> SetFailPointCommand(CommandContext& context);

}  // namespace evenkeel::shard
