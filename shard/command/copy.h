// Copies documents of a collection to other shards, for a new incarnation of it or a move of its
// ranges. docs/moving_data.md, docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

// Documents that the copy gets, page by page.
Awaitable<CommandResult> CopyOutCommand(CommandContext& context);
// Puts documents and rows of retryable writes that are not there yet.
Awaitable<CommandResult> CopyInCommand(CommandContext& context);
// All rows of retryable writes of the collection: one stands for documents of several ranges.
Awaitable<CommandResult> CopySessionsCommand(CommandContext& context);

// Of a move within a collection: how many documents it has brought here, by the range they come
// from; and how many of this shard's it takes away, before it ends. Errors: InternalError for a
// number that cannot be, as far as the shard can tell.
Awaitable<CommandResult> ArrivalsCommand(CommandContext& context);
Awaitable<CommandResult> NoteLeavingCommand(CommandContext& context);

}  // namespace evenkeel::shard
