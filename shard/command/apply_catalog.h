// Steps of DDL jobs on a shard. docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

// _applyCatalog: rows of assignments and collections that the shard is to know, collections that
// it is to drop. May be repeated. A collection that is put as retired is dropped at once when
// nobody reads it.
Awaitable<CommandResult> ApplyCatalogCommand(CommandContext& context);

// Drops a collection that the catalog names no more. Errors: ConflictingOperationInProgress while a
// prepared transaction has written to it; of the store.
Awaitable<absl::Status> DropCollection(ShardService& service, CollectionId id);

}  // namespace evenkeel::shard
