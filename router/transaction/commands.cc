// commitTransaction and abortTransaction.
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "router/cluster.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/transaction/commit.h"
#include "router/write/results.h"

namespace evenkeel::router {
namespace {

absl::Status NotActive(const CommandContext& context) {
  return Error(ErrorCode::kNoSuchTransaction,
               "Given transaction number {} does not match any in-progress transactions.",
               context.request.generic.txn_number->value);
}

absl::Status CheckArguments(const CommandContext& context) {
  if (context.request.database != "admin") {
    return Error(ErrorCode::kUnauthorized, "{} may only be run against the admin database.",
                 context.request.name);
  }
  if (!context.request.in_transaction()) {
    return Error(ErrorCode::kNoSuchTransaction, "{} must be run within a transaction",
                 context.request.name);
  }
  return absl::OkStatus();
}

// Asks the coordinator of the client's transaction, which ends it if it was not decided. True: it
// was committed.
Awaitable<absl::StatusOr<bool>> IsCommitted(CommandContext& context, ShardId coordinator) {
  const ClientTransaction named(std::string(context.request.generic.lsid_bytes),
                                *context.request.generic.txn_number, {});
  ShardCall call{coordinator, MakeMessage(named.EndCommand("_decisionOf"))};
  const CallScope scope{context.request.deadline, context.cancelled, nullptr};
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply,
                               co_await context.router.cluster->Send(std::move(call), scope));
  co_return reply.body.Contains("committedAt");
}

// A transaction of another router. True: it was committed. Errors: NoSuchTransaction without a
// token.
Awaitable<absl::StatusOr<bool>> Recover(CommandContext& context) {
  const bson::Value token = context.body()["recoveryToken"];
  if (!token.Is(bson::Type::kObject)) co_return NotActive(context);
  const bson::Value name = token.AsDocument()["recoveryShardId"];
  if (name.missing()) co_return NotActive(context);
  if (!name.Is(bson::Type::kString)) {
    co_return MakeError(ErrorCode::kShardNotFound,
                        "recoveryToken.recoveryShardId names no shard: not a string");
  }
  const std::string shard_name(name.AsString());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const ShardId shard, co_await context.router.cluster->ResolveShard(
                                                        shard_name, context.scope()));
  co_return co_await IsCommitted(context, shard);
}

absl::Status AlreadyCommitted(const CommandContext& context) {
  return Error(ErrorCode::kTransactionCommitted, "Transaction {} has been committed.",
               context.request.generic.txn_number->value);
}

// The reply to a commit: it is done, whatever becomes of its write concern.
bson::Document Committed(const CommandContext& context) {
  const auto concern = write::WriteConcernError(context.request.generic.write_concern);
  bson::Builder reply;
  if (concern) reply.Append("writeConcernError", *concern);
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> CommitTransactionCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckArguments(context));
  if (context.transaction == nullptr) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bool committed, co_await Recover(context));
    if (!committed) co_return NotActive(context);
    co_return Committed(context);
  }
  const CallScope scope{context.request.deadline, context.cancelled, nullptr};
  EVENKEEL_CO_RETURN_IF_ERROR(
      co_await CommitTransaction(context.router, context.transaction, scope));
  co_return Committed(context);
}

Awaitable<CommandResult> AbortTransactionCommand(CommandContext& context) {
  using State = ClientTransaction::State;
  EVENKEEL_CO_RETURN_IF_ERROR(CheckArguments(context));
  const auto& transaction = context.transaction;
  if (transaction == nullptr) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bool committed, co_await Recover(context));
    co_return committed ? AlreadyCommitted(context) : NotActive(context);
  }
  if (transaction->state == State::kAborted) co_return NotActive(context);
  if (transaction->state == State::kCommitting) {
    // Its commit came to no answer.
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bool committed,
                                 co_await IsCommitted(context, transaction->writers().front()));
    const CallScope scope{context.request.deadline, context.cancelled, nullptr};
    if (committed) {
      EVENKEEL_CO_RETURN_IF_ERROR(co_await CommitTransaction(context.router, transaction, scope));
    }
  }
  if (transaction->state == State::kCommitted) co_return AlreadyCommitted(context);
  co_await AbortTransaction(context.router, transaction);
  co_return bson::Document();
}

}  // namespace evenkeel::router
