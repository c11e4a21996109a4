// How commands begin, continue and end cursors: the steps between a handler and the cursor table.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "router/cursor/client_cursor.h"
#include "router/cursor/cursor_table.h"

namespace evenkeel::router {

struct FirstBatch {
  std::optional<int64_t> rows = kFirstBatchRows;
  bool single = false;  // close the cursor after it
  bool no_timeout = false;
};

// The first reply of a new cursor, which is kept for getMore unless it is exhausted.
Awaitable<CommandResult> BeginCursor(CommandContext& context, std::string ns,
                                     std::unique_ptr<ClientCursor> cursor, FirstBatch first);
// Keeps a cursor whose first batch is in `reply` already; returns `reply`.
Awaitable<CommandResult> KeepCursor(CommandContext& context, std::string ns, CursorId id,
                                    std::unique_ptr<ClientCursor> cursor, FirstBatch first,
                                    bson::Document reply);
// A reply with these rows and a cursor for what does not fit into it.
Awaitable<CommandResult> ReplyWithRows(CommandContext& context, std::string ns,
                                       std::vector<bson::Document> rows,
                                       std::optional<int64_t> batch_size);
// {cursor: {firstBatch: [], id: 0, ns}}.
bson::Document EmptyCursorReply(std::string_view ns);
// Closes them one after another.
Awaitable<void> CloseCursors(std::vector<std::unique_ptr<ClientCursor>> cursors);

}  // namespace evenkeel::router
