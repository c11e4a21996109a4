// Begins and continues transactions.
#include "router/transaction/statement.h"

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "router/cluster.h"
#include "router/router.h"
#include "router/transaction/commit.h"

namespace evenkeel::router {
namespace {

absl::Status NoSuch(TxnNumber wanted, TxnNumber active) {
  return Error(
      ErrorCode::kNoSuchTransaction,
      "Given transaction number {} does not match any in-progress transactions. The active "
      "transaction number is {}",
      wanted.value, active.value);
}

// It sees everything that its client has seen.
Timestamp SnapshotFor(const CommandContext& context) {
  const wire::ReadConcern& concern = context.request.generic.read_concern;
  if (concern.at_cluster_time) return *concern.at_cluster_time;
  return std::max(context.router.clock->Now(), concern.after_cluster_time.value_or(Timestamp{}));
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

}  // namespace

bool EndsTransaction(const wire::Request& request) {
  return request.name == "commitTransaction" || request.name == "abortTransaction";
}

Awaitable<absl::StatusOr<std::shared_ptr<ClientTransaction>>> EnterTransaction(
    CommandContext& context, Session& session) {
  const wire::Request& request = context.request;
  const TxnNumber number = *request.generic.txn_number;
  const auto known = session.transaction;
  const TxnNumber newest = std::max(session.newest, TxnNumber{-1});
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
    co_await LeaveTransaction(context, session);
    session.newest = number;
    session.transaction =
        std::make_shared<ClientTransaction>(session.id, number, SnapshotFor(context));
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

Awaitable<void> LeaveTransaction(CommandContext& context, Session& session) {
  const auto open = std::exchange(session.transaction, nullptr);
  if (open != nullptr && open->state == ClientTransaction::State::kOpen)
    co_await AbortTransaction(context.router, open);
}

namespace {

// The first error among `writeErrors`, if any. Errors: the ones that call for a new start.
absl::StatusOr<bool> HasWriteErrors(bson::View reply) {
  const bson::Value errors = reply["writeErrors"];
  if (!errors.Is(bson::Type::kArray)) return false;
  for (const auto& [key, error] : errors.AsDocument()) {
    if (!error.Is(bson::Type::kObject)) continue;
    const bson::View fields = error.AsDocument();
    const auto code = static_cast<ErrorCode>(bson::ToInt64Truncated(fields["code"]));
    if (!Is(code, kTransientTransaction)) continue;
    return MakeError(code, fields["errmsg"].AsString());
  }
  return true;
}

}  // namespace

Awaitable<CommandResult> FinishStatement(CommandContext& context, CommandResult result) {
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
