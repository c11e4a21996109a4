// Changes of the catalog: each one a job with a durable record on shard 0, rolled forward or back
// after a crash.
//
// Order of a job (DESIGN: catalog and routing): the record, under which it is planned; one
// idempotent batch per shard; a last batch on shard 0 that changes `config.*` and ends the record.
// One job per collection at a time: the record's `_id` is the namespace.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "catalog/routing_table.h"
#include "query/request/create_indexes_request.h"
#include "router/command.h"

namespace evenkeel::router::ddl {

using RoutePtr = std::shared_ptr<const catalog::Route>;

// The route of a collection, which is created (unsharded, no options) when it does not exist yet.
// Errors: InvalidNamespace, CommandNotSupportedOnView (166) for a view.
Awaitable<absl::StatusOr<RoutePtr>> EnsureCollection(RouterState& router, std::string ns,
                                                     absl::Time deadline,
                                                     base::CancellationToken cancelled);

// Makes `config.*` and gives every shard its identity and ranges when the cluster is new.
Awaitable<absl::Status> Bootstrap(RouterState& router);

// Writes this router's row in config.mongos, with the time. Errors: of shard 0.
Awaitable<absl::Status> NotePresence(RouterState& router);
// Removes it when this router stops: nobody waits for one that is not there on purpose.
Awaitable<absl::Status> RemovePresence(RouterState& router);

// Moves an unsharded collection for the balancer; nothing to do when it is there. Errors: of the
// move.
Awaitable<absl::Status> PlaceCollection(RouterState& router, std::string ns, ShardId to,
                                        CallScope scope);

// Handlers, for router/table.cc.
Awaitable<CommandResult> CreateCommand(CommandContext& context);
Awaitable<CommandResult> DropCommand(CommandContext& context);
Awaitable<CommandResult> DropDatabaseCommand(CommandContext& context);
Awaitable<CommandResult> RenameCollectionCommand(CommandContext& context);
Awaitable<CommandResult> CreateIndexesCommand(CommandContext& context);
Awaitable<CommandResult> DropIndexesCommand(CommandContext& context);
Awaitable<CommandResult> EnableShardingCommand(CommandContext& context);
Awaitable<CommandResult> ShardCollectionCommand(CommandContext& context);
Awaitable<CommandResult> ReshardCollectionCommand(CommandContext& context);
Awaitable<CommandResult> AbortReshardCollectionCommand(CommandContext& context);
Awaitable<CommandResult> CommitReshardCollectionCommand(CommandContext& context);
Awaitable<CommandResult> UnshardCollectionCommand(CommandContext& context);
Awaitable<CommandResult> AbortUnshardCollectionCommand(CommandContext& context);
Awaitable<CommandResult> MoveCollectionCommand(CommandContext& context);
Awaitable<CommandResult> AbortMoveCollectionCommand(CommandContext& context);
Awaitable<CommandResult> CleanupOrphanedCommand(CommandContext& context);

}  // namespace evenkeel::router::ddl
