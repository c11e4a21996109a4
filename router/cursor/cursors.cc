// Cursors' beginnings and ends.
#include "router/cursor/cursors.h"

#include <utility>

#include "base/status.h"
#include "router/cursor/documents_cursor.h"
#include "router/cursor/snapshot_cursor.h"
#include "router/router.h"

namespace evenkeel::router {
namespace {

// Larger ones are not kept to be shown.
constexpr size_t kShownCommandBytesMax = 4096;

}  // namespace

Awaitable<CommandResult> KeepCursor(CommandContext& context, std::string ns, CursorId id,
                                    std::unique_ptr<ClientCursor> cursor, FirstBatch first,
                                    bson::Document reply) {
  if (cursor->exhausted()) co_return reply;
  if (context.transaction && context.transaction->only_reads()) {
    cursor =
        std::make_unique<SnapshotCursor>(context.router, std::move(cursor), context.transaction);
  }
  CursorOwner owner;
  owner.ns = std::move(ns);
  owner.lsid = std::string(context.request.generic.lsid_bytes);
  owner.no_timeout = first.no_timeout;
  if (context.body().SizeBytes() <= kShownCommandBytesMax)
    owner.command = bson::Document(context.body());
  if (context.request.in_transaction()) {
    owner.transaction = context.request.generic.txn_number;
    context.transaction->NoteCursor(id);
  }
  const absl::Status kept = context.router.cursors->Put(id, cursor, std::move(owner));
  if (!kept.ok()) {
    co_await cursor->Close();
    co_return kept;
  }
  co_return reply;
}

Awaitable<CommandResult> BeginCursor(CommandContext& context, std::string ns,
                                     std::unique_ptr<ClientCursor> cursor, FirstBatch first) {
  BatchRequest batch;
  batch.rows = first.rows;
  batch.first = true;
  if (!first.single) batch.id = context.router.cursors->NewId();
  auto reply = co_await cursor->Next(batch, context.scope());
  if (!reply.ok() || first.single) {
    co_await cursor->Close();
    co_return reply;
  }
  co_return co_await KeepCursor(context, std::move(ns), batch.id, std::move(cursor), first,
                                *std::move(reply));
}

Awaitable<CommandResult> ReplyWithRows(CommandContext& context, std::string ns,
                                       std::vector<bson::Document> rows,
                                       std::optional<int64_t> batch_size) {
  FirstBatch first;
  first.rows = batch_size;
  auto cursor = std::make_unique<DocumentsCursor>(ns, std::move(rows));
  co_return co_await BeginCursor(context, std::move(ns), std::move(cursor), first);
}

bson::Document EmptyCursorReply(std::string_view ns) {
  BatchRequest batch;
  batch.first = true;
  return BatchBuilder(batch).Finish(true, ns);
}

Awaitable<void> CloseCursors(std::vector<std::unique_ptr<ClientCursor>> cursors) {
  for (auto& cursor : cursors) co_await cursor->Close();
}

}  // namespace evenkeel::router
