// Commands that answer with cursors: find, aggregate, getMore, killCursors.
// docs/internal_protocol.md
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "shard/command/command.h"
#include "shard/command/read_cursor.h"

namespace evenkeel::shard {

Awaitable<CommandResult> FindCommand(CommandContext& context);
Awaitable<CommandResult> AggregateCommand(CommandContext& context);
Awaitable<CommandResult> GetMoreCommand(CommandContext& context);
Awaitable<CommandResult> KillCursorsCommand(CommandContext& context);

// The cursor of a find or aggregate command, operators included. For explain too.
absl::StatusOr<std::unique_ptr<ReadCursor>> OpenFind(const CommandContext& context,
                                                     const Collection& collection,
                                                     std::shared_ptr<const bson::Document> command,
                                                     bool merge);
absl::StatusOr<std::unique_ptr<ReadCursor>> OpenAggregate(
    const CommandContext& context, const wire::ShardEnvelope& envelope,
    const Collection& collection, std::shared_ptr<const bson::Document> command,
    query::StageTrace* trace = nullptr);

// The cursor of a pipeline. `spec` has the command, the context in which the stages are compiled
// and a hint; the stages need not outlive the call.
absl::StatusOr<std::unique_ptr<ReadCursor>> OpenPipeline(const CommandContext& context,
                                                         const Collection& collection,
                                                         bson::View stages, ReadSpec spec);

}  // namespace evenkeel::shard
