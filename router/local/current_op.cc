// Makes the rows of currentOp, and the commands currentOp and killOp.
#include "router/local/current_op.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/match/filter.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/cursor/cursor_table.h"
#include "router/ddl/move_progress.h"
#include "router/local/local.h"
#include "router/local/move_rows.h"
#include "router/query_context.h"
#include "router/router.h"
#include "router/session/operation_table.h"
#include "router/transaction/open_transactions.h"
#include "wire/protocol/commands.h"
#include "wire/protocol/operation_text.h"

namespace evenkeel::router::local {
namespace {

constexpr uint8_t kUuidSubtype = 4;
// Longer commands are cut when they are to be; no row may come near the largest document.
constexpr size_t kTruncatedBytes = 1024;
constexpr size_t kCommandBytesMax = size_t{1} << 20;
constexpr ErrorCode kNoInt32 = Location(26823);

std::string IsoText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3S+00:00", time, absl::UTCTimeZone());
}

// What tools call a kind of operation.
std::string_view KindOf(std::string_view command) {
  struct Kind {
    std::string_view command, kind;
  };
  constexpr Kind kKinds[] = {{"delete", "remove"},           {"find", "query"},
                             {"getMore", "getmore"},         {"insert", "insert"},
                             {"killCursors", "killcursors"}, {"update", "update"}};
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [command](const Kind& kind) { return kind.command == command; });
  return found == std::end(kKinds) ? "command" : found->kind;
}

std::string HostOf(const RouterState& router) {
  return router.options.host + ":" + std::to_string(router.options.port);
}

void AppendHost(const RouterState& router, bson::Builder& row) {
  row.Append("host", HostOf(router));
}

void AppendClient(const ClientFacts& client, bson::Builder& row) {
  row.Append("desc", "conn" + std::to_string(client.connection_id))
      .Append("connectionId", client.connection_id)
      .Append("client", client.remote);
  if (client.metadata.empty()) return;
  const bson::Value application = client.metadata["application"];
  if (application.Is(bson::Type::kObject)) row.Append("appName", application.AsDocument()["name"]);
  row.Append("clientMetadata", client.metadata);
}

void AppendSession(std::string_view lsid, bson::Builder& row) {
  if (lsid.empty()) return;
  row.OpenDocument("lsid").AppendBinary("id", kUuidSubtype, lsid);
  row.AppendBinary("uid", 0, NobodysDigest()).Close();
}

// There are no locks to wait for, and none to list.
void AppendLocks(bson::Builder& row) {
  row.OpenDocument("locks").Close().Append("waitingForLock", false);
  row.OpenDocument("lockStats").Close().Append("waitingForFlowControl", false);
  row.OpenDocument("flowControlStats").Close();
}

void AppendCommand(bson::View command, bool truncate, bson::Builder& row) {
  const size_t most = truncate ? kTruncatedBytes : kCommandBytesMax;
  if (command.SizeBytes() <= most) {
    row.Append("command", command);
    return;
  }
  wire::Message message;
  message.body = command;
  row.OpenDocument("command").Append("$truncated", wire::CommandText(message)).Close();
}

void AppendParticipants(const ClientTransaction& transaction, bson::Builder& row) {
  const std::vector<ShardId> participants = transaction.participants();
  const std::vector<ShardId> writers = transaction.writers();
  row.Append("numParticipants", static_cast<int32_t>(participants.size()))
      .Append("numNonReadOnlyParticipants", static_cast<int32_t>(writers.size()))
      .Append("numReadOnlyParticipants", static_cast<int32_t>(participants.size() - writers.size()))
      .OpenArray("participants");
  bson::ArrayAppender list(row);
  for (const ShardId shard : participants) {
    const bool writes = std::find(writers.begin(), writers.end(), shard) != writers.end();
    row.OpenDocument(list.NextKey())
        .Append("name", Cluster::ShardName(shard))
        .Append("coordinator", writes && shard == writers.front())
        .Append("readOnly", !writes)
        .Close();
  }
  row.Close();
}

void AppendTransaction(const ClientTransaction& transaction, absl::Time now, bson::Builder& row) {
  const ClientTransaction::Times times = transaction.times();
  const int64_t open = absl::ToInt64Microseconds(now - times.begun);
  const int64_t active = absl::ToInt64Microseconds(
      times.active + (times.has_statement() ? now - times.statement_begun : absl::ZeroDuration()));
  row.OpenDocument("transaction").OpenDocument("parameters");
  row.Append("txnNumber", transaction.number().value).Append("autocommit", false);
  row.OpenDocument("readConcern");
  if (!transaction.read_concern.empty()) row.Append("level", transaction.read_concern);
  row.Close().Close();
  row.Append("readTimestamp", transaction.read_at())
      .Append("globalReadTimestamp", transaction.read_at())
      .Append("startWallClockTime", IsoText(times.begun))
      .Append("timeOpenMicros", open)
      .Append("timeActiveMicros", active)
      .Append("timeInactiveMicros", open - active)
      .Append("expiryTime", IsoText(times.begun + kTransactionLifetime));
  AppendParticipants(transaction, row);
  row.Close();
}

using TransactionList = std::vector<std::shared_ptr<const ClientTransaction>>;

const ClientTransaction* TransactionOf(const TransactionList& open, std::string_view lsid) {
  const auto found = std::find_if(open.begin(), open.end(), [lsid](const auto& transaction) {
    return transaction->lsid() == lsid;
  });
  return found == open.end() ? nullptr : found->get();
}

bson::Document OperationRow(const RouterState& router, const Operation& operation,
                            const TransactionList& open, absl::Time now, bool truncate) {
  wire::Message message;
  message.body = operation.body;
  const std::string_view name =
      operation.command ? operation.command->name : operation.body.Front().key;
  const absl::Duration running = now - operation.begun;
  bson::Builder row;
  row.Append("type", "op");
  AppendHost(router, row);
  AppendClient(*operation.client, row);
  row.Append("active", true).Append("currentOpTime", IsoText(now)).Append("threaded", true);
  row.Append("isFromUserConnection", true).Append("opid", operation.id);
  AppendSession(operation.lsid, row);
  if (operation.killed.token().IsCancelled()) row.Append("killPending", true);
  const ClientTransaction* transaction =
      operation.in_transaction ? TransactionOf(open, operation.lsid) : nullptr;
  if (transaction != nullptr) AppendTransaction(*transaction, now, row);
  row.Append("secs_running", absl::ToInt64Seconds(running))
      .Append("microsecs_running", absl::ToInt64Microseconds(running))
      .Append("op", KindOf(name))
      .Append("ns", wire::NamespaceText(message))
      .Append("redacted", false);
  AppendCommand(operation.body, truncate, row);
  row.Append("numYields", int32_t{0});
  AppendLocks(row);
  return row.Finish();
}

// A transaction whose session has no command under way.
bson::Document SessionRow(const RouterState& router, const ClientTransaction& transaction,
                          absl::Time now) {
  bson::Builder row;
  row.Append("type", "idleSession");
  AppendHost(router, row);
  row.Append("desc", "inactive transaction");
  AppendSession(transaction.lsid(), row);
  AppendTransaction(transaction, now, row);
  row.Append("active", false);
  AppendLocks(row);
  return row.Finish();
}

bson::Document CursorRow(const RouterState& router, const CursorTable::Listed& cursor,
                         bool truncate) {
  bson::Builder row;
  row.Append("type", "idleCursor");
  AppendHost(router, row);
  row.Append("ns", cursor.ns);
  AppendSession(cursor.lsid, row);
  row.OpenDocument("cursor")
      .Append("cursorId", cursor.id.value)
      .AppendDate("createdDate", absl::ToUnixMillis(cursor.created))
      .AppendDate("lastAccessDate", absl::ToUnixMillis(cursor.last_use))
      .Append("nBatchesReturned", cursor.batches)
      .Append("noCursorTimeout", cursor.no_timeout)
      .Append("tailable", false)
      .Append("awaitData", false);
  if (!cursor.command.empty()) {
    bson::Builder shown;
    AppendCommand(cursor.command, truncate, shown);
    row.Append("originatingCommand", shown.Finish()["command"]);
  }
  row.Close();
  return row.Finish();
}

bson::Document ConnectionRow(const RouterState& router, const ClientFacts& client, absl::Time now) {
  bson::Builder row;
  row.Append("type", "op");
  AppendHost(router, row);
  AppendClient(client, row);
  row.Append("active", false).Append("currentOpTime", IsoText(now));
  return row.Finish();
}

// The options of the command; every other field is part of a filter over the rows.
constexpr std::string_view kOptions[] = {"$all", "$ownOps", "$truncateOps"};

bson::Document FilterOf(bson::View command) {
  bson::Builder filter;
  bool is_name = true;
  for (const auto& field : command) {
    if (std::exchange(is_name, false) || query::IsGenericArgument(field.key)) continue;
    if (std::find(std::begin(kOptions), std::end(kOptions), field.key) != std::end(kOptions))
      continue;
    filter.Append(field.key, field.value);
  }
  return filter.Finish();
}

bool Flag(bson::View command, std::string_view name) {
  const bson::Value value = command[name];
  return !value.missing() && bson::Truthy(value);
}

// "shard0:123", how routers of MongoDB name operations of shards: here are none.
bool IsShardsOperation(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const std::string_view number = text.substr(colon + 1);
  return std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Nothing: an operation of a shard. Errors: NoSuchKey, TypeMismatch, BadValue, 26823.
absl::StatusOr<std::optional<int32_t>> OperationId(bson::Value op) {
  if (op.missing()) return MakeError(ErrorCode::kNoSuchKey, "killOp needs the field 'op'");
  if (op.Is(bson::Type::kString) && IsShardsOperation(op.AsString())) return std::nullopt;
  if (!op.IsNumber()) return query::WrongType("killOp", "op", op, "number");
  const auto whole = bson::ToInt64Exact(op);
  if (!whole) return MakeError(ErrorCode::kBadValue, "killOp.op must be a whole number");
  if (*whole < std::numeric_limits<int32_t>::min() || *whole > std::numeric_limits<int32_t>::max())
    return Error(kNoInt32, "invalid op : {}. Op ID cannot be represented with 32 bits", *whole);
  return static_cast<int32_t>(*whole);
}

}  // namespace

std::string_view NobodysDigest() {
  return {
      "\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f\xb9\x24"
      "\x27\xae\x41\xe4\x64\x9b\x93\x4c\xa4\x95\x99\x1b\x78\x52\xb8\x55",
      32};
}

std::vector<bson::Document> CurrentOperations(const CommandContext& context,
                                              const CurrentOpOptions& options) {
  const RouterState& router = context.router;
  const absl::Time now = router.wall->Now();
  const TransactionList open = router.transactions->List(now);
  std::vector<bson::Document> rows;
  for (const auto& operation : router.operations->Running())
    rows.push_back(OperationRow(router, *operation, open, now, options.truncate));
  for (const auto& move : router.moves->List())
    rows.push_back(MoveOperationRow(move->Row(), HostOf(router)));
  for (const bson::Document& move : router.moves->Others())
    rows.push_back(MoveOperationRow(move, move["router"].AsString()));
  if (options.idle_sessions) {
    for (const auto& transaction : open) {
      if (!transaction->times().has_statement())
        rows.push_back(SessionRow(router, *transaction, now));
    }
  }
  if (options.idle_cursors) {
    for (const CursorTable::Listed& cursor : router.cursors->ListIdle())
      rows.push_back(CursorRow(router, cursor, options.truncate));
  }
  if (options.idle_connections) {
    for (const auto& client : router.operations->Idle())
      rows.push_back(ConnectionRow(router, *client, now));
  }
  return rows;
}

Awaitable<CommandResult> CurrentOpCommand(CommandContext& context) {
  const bson::Document filter_text = FilterOf(context.body());
  const auto query_context = MakeQueryContext(context.router, context.times, "admin.$cmd", {});
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Filter filter,
                               query::Filter::Parse(filter_text, *query_context));
  CurrentOpOptions options;
  options.idle_connections = Flag(context.body(), "$all");
  options.truncate = Flag(context.body(), "$truncateOps");
  bson::Builder reply;
  reply.OpenArray("inprog");
  bson::ArrayAppender rows(reply);
  for (const bson::Document& row : CurrentOperations(context, options)) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bool matches, filter.Evaluate(row));
    if (!matches) continue;
    if (reply.SizeBytes() + row.SizeBytes() > limits::kReplyBatchBytesMax) {
      co_return MakeError(ErrorCode::kBSONObjectTooLarge,
                          "the operations do not fit into one reply: use $currentOp");
    }
    rows.Add(row);
  }
  reply.Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> KillOpCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::optional<int32_t> id, OperationId(context.body()["op"]));
  if (id) (void)context.router.operations->Kill(*id);
  bson::Builder reply;
  reply.Append("info", "attempting to kill op");
  co_return reply.Finish();
}

}  // namespace evenkeel::router::local
