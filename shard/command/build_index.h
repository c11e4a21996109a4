// Adds the records of the documents that were there before an index. docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

Awaitable<CommandResult> BuildIndexCommand(CommandContext& context);

}  // namespace evenkeel::shard
