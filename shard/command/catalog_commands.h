// A shard's identity, and the catalog's own batches on shard 0. docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

Awaitable<CommandResult> InitShardCommand(CommandContext& context);
Awaitable<CommandResult> CommitCatalogCommand(CommandContext& context);

}  // namespace evenkeel::shard
