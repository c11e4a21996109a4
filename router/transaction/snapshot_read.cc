// Snapshots for single commands and their cursors.
#include "router/transaction/snapshot_read.h"

#include <utility>

#include "base/bson/builder.h"
#include "router/router.h"
#include "router/transaction/commit.h"
#include "router/transaction/statement.h"
#include "router/transaction/transaction.h"

namespace evenkeel::router {
namespace {

bool HasCursor(bson::View reply) {
  const bson::Value cursor = reply["cursor"];
  if (!cursor.Is(bson::Type::kObject)) return false;
  const bson::Value id = cursor.AsDocument()["id"];
  return id.Is(bson::Type::kInt64) && id.AsInt64() != 0;
}

bson::Document WithTimestamp(bson::View reply, Timestamp read_at) {
  bson::Builder out;
  for (const auto& field : reply) {
    if (field.key != "cursor") {
      out.Append(field.key, field.value);
      continue;
    }
    out.OpenDocument("cursor").AppendFields(field.value.AsDocument());
    out.Append("atClusterTime", read_at).Close();
  }
  if (!reply.Contains("cursor")) out.Append("atClusterTime", read_at);
  return out.Finish();
}

}  // namespace

// A cursor has the read concern of the command that began it, whatever drivers add to getMore.
bool ReadsAtSnapshot(const wire::Request& request) {
  return request.generic.read_concern.level == wire::ReadConcernLevel::kSnapshot &&
         !request.in_transaction() && request.name != "getMore";
}

Awaitable<CommandResult> RunAtSnapshot(CommandContext& context, CommandHandler handler) {
  const auto snapshot = ClientTransaction::OfSnapshot(SnapshotFor(context));
  context.transaction = snapshot;
  CommandResult result = co_await handler(context);
  context.transaction = nullptr;
  if (!result.ok() || !HasCursor(result->view()))
    co_await AbortTransaction(context.router, snapshot);
  if (!result.ok()) co_return result;
  co_return WithTimestamp(result->view(), snapshot->read_at());
}

}  // namespace evenkeel::router
