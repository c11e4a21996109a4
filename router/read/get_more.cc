// getMore and killCursors.
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/request/cursor_request.h"
#include "router/cursor/cursors.h"
#include "router/fail/command_fail_point.h"
#include "router/fail/fail.h"
#include "router/read/read.h"
#include "router/router.h"

namespace evenkeel::router::read {
namespace {

std::string NamespaceOf(const CommandContext& context, std::string_view collection) {
  return std::string(context.request.database).append(".").append(collection);
}

// Gives a cursor back to the table when the command's coroutine ends, even one that is destroyed
// while it waits.
class CheckedOut {
 public:
  CheckedOut(CursorTable& table, CursorId id) : table_(&table), id_(id) {}
  CheckedOut(const CheckedOut&) = delete;
  CheckedOut& operator=(const CheckedOut&) = delete;
  ~CheckedOut() {
    if (table_) table_->Drop(id_);
  }
  void Release() { table_ = nullptr; }

 private:
  CursorTable* table_;
  CursorId id_;
};

void AppendIds(bson::Builder& reply, std::string_view name, const std::vector<CursorId>& ids) {
  reply.OpenArray(name);
  bson::ArrayAppender array(reply);
  for (const CursorId id : ids) array.Add(id.value);
  reply.Close();
}

}  // namespace

Awaitable<CommandResult> GetMoreCommand(CommandContext& context) {
  context.router.metrics.get_mores.fetch_add(1, std::memory_order_relaxed);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::GetMoreRequest request,
                               query::ParseGetMore(context.body()));
  CursorTable& table = *context.router.cursors;
  const std::string ns = NamespaceOf(context, request.collection);
  CursorUser user;
  user.lsid = context.request.generic.lsid_bytes;
  if (context.request.in_transaction()) user.transaction = context.request.generic.txn_number;
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::unique_ptr<ClientCursor> cursor,
                               table.CheckOut(request.cursor, ns, user));
  CheckedOut place(table, request.cursor);
  if (context.router.fail_points) {
    const absl::Status status =
        co_await fail::Pass(context.router.fail_points->fail_get_more, context);
    if (!status.ok()) {
      co_await cursor->Close();
      co_return status;
    }
  }
  BatchRequest batch;
  batch.rows = request.batch_size;
  batch.id = request.cursor;
  auto reply = co_await cursor->Next(batch, context.scope());
  if (!reply.ok() || cursor->exhausted()) {
    // Destroying `place` removes the cursor from the table.
    co_await cursor->Close();
    co_return reply;
  }
  context.more_to_come = context.request.message.exhaust_allowed();
  place.Release();
  if (auto killed = table.Return(request.cursor, std::move(cursor))) co_await killed->Close();
  co_return reply;
}

Awaitable<CommandResult> KillCursorsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::KillCursorsRequest request,
                               query::ParseKillCursors(context.body()));
  const std::string ns = NamespaceOf(context, request.collection);
  std::vector<CursorId> killed, not_found;
  std::vector<std::unique_ptr<ClientCursor>> closing;
  for (const CursorId id : request.cursors) {
    auto cursor = context.router.cursors->Kill(id, ns);
    (cursor.ok() ? killed : not_found).push_back(id);
    if (cursor.ok() && *cursor) closing.push_back(*std::move(cursor));
  }
  co_await CloseCursors(std::move(closing));
  bson::Builder reply;
  AppendIds(reply, "cursorsKilled", killed);
  AppendIds(reply, "cursorsNotFound", not_found);
  AppendIds(reply, "cursorsAlive", {});
  AppendIds(reply, "cursorsUnknown", {});
  co_return reply.Finish();
}

}  // namespace evenkeel::router::read
