// Begins and continues transactions.
#include "router/transaction/statement.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/random.h"
#include "base/status.h"
#include "router/cluster.h"
#include "router/cursor/cursors.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/target.h"
#include "router/transaction/commit.h"
#include "router/transaction/open_transactions.h"
#include "router/write/results.h"

namespace evenkeel::router {
namespace {

// The end of a session waits so long for its command under way.
constexpr absl::Duration kTurnWaitMax = absl::Seconds(1);
// A statement without a deadline begins again for so long because it conflicts: as long as a plain
// write waits for a key.
constexpr absl::Duration kConflictTimeMax = absl::Seconds(30);

absl::Status NoSuch(TxnNumber wanted, TxnNumber active) {
  return Error(
      ErrorCode::kNoSuchTransaction,
      "Given transaction number {} does not match any in-progress transactions. The active "
      "transaction number is {}",
      wanted.value, active.value);
}

absl::Status CheckFirst(const wire::Request& request) {
  using Level = wire::ReadConcernLevel;
  const Level level = request.generic.read_concern.level;
  if (level == Level::kDefault || level == Level::kLocal || level == Level::kMajority ||
      level == Level::kSnapshot) {
    return absl::OkStatus();
  }
  return MakeError(ErrorCode::kInvalidOptions,
                   "The readConcern level of a transaction must be 'local' (default), 'majority' "
                   "or 'snapshot'");
}

absl::Status CheckContinued(const wire::Request& request) {
  if (EndsTransaction(request) || !request.body().Contains("readConcern")) return absl::OkStatus();
  return MakeError(ErrorCode::kInvalidOptions,
                   "Only the first command in a transaction may specify a readConcern");
}

std::shared_ptr<ClientTransaction> BeginTransaction(const CommandContext& context,
                                                    const Session& session) {
  auto transaction =
      std::make_shared<ClientTransaction>(session.id, session.newest, SnapshotFor(context));
  const bson::Value concern = context.body()["readConcern"];
  if (concern.Is(bson::Type::kObject) && concern.AsDocument()["level"].Is(bson::Type::kString))
    transaction->read_concern = std::string(concern.AsDocument()["level"].AsString());
  transaction->BeginStatement(context.router.wall->Now());
  context.router.transactions->Add(transaction);
  return transaction;
}

}  // namespace

Timestamp SnapshotFor(const CommandContext& context) {
  const wire::ReadConcern& concern = context.request.generic.read_concern;
  if (concern.at_cluster_time) return *concern.at_cluster_time;
  return std::max(context.router.clock->Now(), concern.after_cluster_time.value_or(Timestamp{}));
}

bool EndsTransaction(const wire::Request& request) {
  return request.name == "commitTransaction" || request.name == "abortTransaction";
}

Awaitable<absl::StatusOr<std::shared_ptr<ClientTransaction>>> EnterTransaction(
    CommandContext& context, Session& session) {
  const wire::Request& request = context.request;
  const TxnNumber number = *request.generic.txn_number;
  const auto known = session.transaction;
  const TxnNumber newest = session.newest;
  if (request.generic.write_concern.given && !EndsTransaction(request)) {
    co_return MakeError(ErrorCode::kInvalidOptions,
                        "writeConcern is not allowed within a multi-statement transaction");
  }
  if (number < newest) {
    co_return Error(ErrorCode::kTransactionTooOld,
                    "Cannot start transaction {} on session because a newer transaction with "
                    "txnNumber {} has already started on this session.",
                    number.value, newest.value);
  }
  const bool same = known != nullptr && known->number() == number;
  if (request.generic.start_transaction) {
    EVENKEEL_CO_RETURN_IF_ERROR(CheckFirst(request));
    if (same) {
      co_return Error(ErrorCode::kConflictingOperationInProgress,
                      "Cannot start a transaction at given transaction number {}: a transaction "
                      "with the same number is in state {}",
                      number.value,
                      known->state == ClientTransaction::State::kOpen ? "in progress" : "ended");
    }
    co_await LeaveTransaction(context.router, session);
    session.newest = number;
    context.router.metrics.transactions_started.fetch_add(1, std::memory_order_relaxed);
    session.transaction = BeginTransaction(context, session);
    co_return session.transaction;
  }
  EVENKEEL_CO_RETURN_IF_ERROR(CheckContinued(request));
  if (EndsTransaction(request)) co_return same ? known : nullptr;
  if (!same || known->state == ClientTransaction::State::kAborted) co_return NoSuch(number, newest);
  if (known->state != ClientTransaction::State::kOpen) {
    co_return Error(ErrorCode::kTransactionCommitted, "Transaction {} has been committed.",
                    number.value);
  }
  co_return known;
}

Awaitable<void> LeaveTransaction(RouterState& router, Session& session) {
  const auto open = std::exchange(session.transaction, nullptr);
  const bool ends = open != nullptr && open->state == ClientTransaction::State::kOpen;
  if (!ends) co_return;
  co_await AbortTransaction(router, open);
}

Awaitable<void> EndSession(RouterState& router, std::shared_ptr<Session> session) {
  const CallScope scope{router.wall->Now() + kTurnWaitMax, {}, nullptr};
  const auto turn = co_await AsyncMutex::Lock(session->order, scope);
  // A command that goes on for longer leaves its transaction to the shards' lifetime.
  if (turn.ok()) co_await LeaveTransaction(router, *session);
  co_await CloseCursors(router.cursors->TakeOfSession(session->id));
}

namespace {

// The first of some write errors that calls for a new start; rows without a code are none.
absl::Status FirstTransient(bson::Value errors) {
  if (!errors.Is(bson::Type::kArray)) return absl::OkStatus();
  for (const auto& [key, error] : errors.AsDocument()) {
    if (!error.Is(bson::Type::kObject)) continue;
    const bson::View fields = error.AsDocument();
    if (!fields["code"].IsNumber()) continue;
    const auto code = static_cast<ErrorCode>(bson::ToInt64Truncated(fields["code"]));
    if (Is(code, kTransientTransaction)) return MakeError(code, fields["errmsg"].AsString());
  }
  return absl::OkStatus();
}

// True when some write of a command has failed; bulkWrite tells so by nErrors and its rows. Errors:
// the ones that call for a new start.
absl::StatusOr<bool> HasWriteErrors(bson::View reply) {
  const bson::Value errors = reply["writeErrors"], count = reply["nErrors"];
  EVENKEEL_RETURN_IF_ERROR(FirstTransient(errors));
  if (!count.IsNumber() || bson::ToInt64Truncated(count) == 0) return !errors.missing();
  const bson::Value cursor = reply["cursor"];
  if (cursor.Is(bson::Type::kObject))
    EVENKEEL_RETURN_IF_ERROR(FirstTransient(cursor.AsDocument()["firstBatch"]));
  return true;
}

}  // namespace

Awaitable<absl::Status> InsertLeaving(CommandContext& context) {
  for (const ClientTransaction::Leaving& leaving : context.transaction->TakeLeaving()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route,
                                 co_await context.router.cluster->Lookup(
                                     leaving.ns, context.request.deadline, context.cancelled));
    if (!route) co_return Error(ErrorCode::kNamespaceNotFound, "'{}' was dropped", leaving.ns);
    EVENKEEL_CO_ASSIGN_OR_RETURN(const ShardId shard, TargetDocument(*route, leaving.document));
    bson::Builder body =
        StartCommand("insert", route->entry->name(), route->entry->database(), nullptr);
    body.OpenArray("documents").Append("0", leaving.document).Close();
    wire::AppendEnvelope(body, EnvelopeOf(*route));
    ShardCall call{shard, MakeMessage(body.Finish())};
    EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply, co_await context.router.cluster->Send(
                                                                std::move(call), context.scope()));
    EVENKEEL_CO_RETURN_IF_ERROR(write::FirstWriteError(reply.body));
  }
  co_return absl::OkStatus();
}

namespace {

Awaitable<absl::Status> TryAsTransaction(CommandContext& context, const std::string& turn,
                                         const std::function<Awaitable<absl::Status>()>& body,
                                         const CallScope& scope) {
  AsyncMutex::Guard taken;
  if (!turn.empty()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(taken, co_await context.router.statement_turns->Lock(turn, scope));
  }
  const auto transaction = ClientTransaction::OfStatement(context.router.clock->Now());
  context.transaction = transaction;
  absl::Status status = co_await body();
  if (status.ok()) status = co_await InsertLeaving(context);
  context.transaction = nullptr;
  if (status.ok() && !transaction->discarded) {
    co_return co_await CommitTransaction(context.router, transaction, scope);
  }
  co_await AbortTransaction(context.router, transaction);
  co_return status;
}

}  // namespace

Awaitable<absl::Status> RunAsTransaction(CommandContext& context, std::string turn,
                                         std::function<Awaitable<absl::Status>()> body) {
  const CallScope scope = context.scope();
  const absl::Time give_up = std::min(scope.deadline, absl::Now() + kConflictTimeMax);
  for (int attempt = 1;; ++attempt) {
    const absl::Status status = co_await TryAsTransaction(context, turn, body, scope);
    if (status.ok() || !Is(status, kTransientTransaction) || Is(status, kStaleRouting))
      co_return status;
    if (absl::Now() >= give_up) co_return status;
    const auto most = static_cast<uint64_t>(1 << std::min(attempt, 7));
    const auto pause = absl::Milliseconds(base::GlobalRandom64() % most);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(pause, context.cancelled));
  }
}

Awaitable<CommandResult> FinishStatement(CommandContext& context, CommandResult result) {
  if (result.ok()) {
    const absl::Status inserted = co_await InsertLeaving(context);
    if (!inserted.ok()) result = inserted;
  }
  if (result.ok()) {
    const auto failed = HasWriteErrors(result->view());
    if (failed.ok() && !*failed) co_return result;
    if (!failed.ok()) result = failed.status();
  }
  co_await AbortTransaction(context.router, context.transaction);
  co_return result;
}

void AppendRecoveryToken(const ClientTransaction& transaction, bson::Document* reply) {
  const std::vector<ShardId> writers = transaction.writers();
  if (writers.empty()) return;
  bson::Builder out(reply->view());
  out.OpenDocument("recoveryToken")
      .Append("recoveryShardId", Cluster::ShardName(writers.front()))
      .Close();
  *reply = out.Finish();
}

}  // namespace evenkeel::router
