// Drives commits from the router.
#include "router/transaction/commit.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/fail_point.h"
#include "base/status.h"
#include "router/cluster.h"
#include "router/cursor/cursors.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/transaction/open_transactions.h"
#include "txn/transaction_record.h"

namespace evenkeel::router {
namespace {

// How long a shard may take to give up keys before the client of an abort is answered anyway.
constexpr absl::Duration kAbortTimeMax = absl::Seconds(5);
// How often the participants of a commit hear that it is under way: well below the time after which
// other routers take it for left behind.
constexpr absl::Duration kUnderWayPeriod = absl::Seconds(3);
// How often a decision is told to a participant that does not answer, before others see to it.
constexpr int kTellAttempts = 5;
constexpr absl::Duration kTellPause = absl::Milliseconds(200);

ShardCall CallOf(ShardId shard, bson::Document body) {
  return {shard, MakeMessage(std::move(body))};
}

std::vector<ShardId> Without(std::vector<ShardId> all, const std::vector<ShardId>& out) {
  std::erase_if(
      all, [&](ShardId shard) { return std::find(out.begin(), out.end(), shard) != out.end(); });
  return all;
}

bson::Document DecisionCommand(const ClientTransaction& transaction,
                               std::optional<Timestamp> commit_at) {
  bson::Builder body(transaction.EndCommand("_applyDecision").view());
  if (commit_at) body.Append("commitAt", *commit_at);
  return body.Finish();
}

// Tells a decision to one participant until it has applied it. False: it does not answer.
Awaitable<bool> Tell(RouterState& router, ShardId shard, bson::Document command,
                     base::CancellationToken cancelled) {
  for (int attempt = 0; attempt < kTellAttempts; ++attempt) {
    CallScope scope{router.wall->Now() + kAbortTimeMax, cancelled};
    const auto reply =
        co_await router.cluster->Send(CallOf(shard, bson::Document(command.view())), scope);
    if (reply.ok()) co_return true;
    if (!(co_await base::Sleep(kTellPause, cancelled)).ok()) co_return false;
  }
  co_return false;
}

// Tells all participants, then the coordinator that they know.
Awaitable<void> TellAll(RouterState& router, std::shared_ptr<ClientTransaction> transaction,
                        std::vector<ShardId> others, std::optional<Timestamp> commit_at,
                        base::CancellationToken cancelled) {
  bool all = true;
  std::vector<std::function<Awaitable<void>()>> tasks;
  for (const ShardId shard : others) {
    tasks.emplace_back([&, shard]() -> Awaitable<void> {
      const bool told =
          co_await Tell(router, shard, DecisionCommand(*transaction, commit_at), cancelled);
      if (!told) all = false;
    });
  }
  co_await base::WhenAll(std::move(tasks));
  if (!commit_at || !all) co_return;
  (void)co_await Tell(router, transaction->writers().front(),
                      transaction->EndCommand("_forgetDecision"), cancelled);
}

void TellAllInBackground(RouterState& router, std::shared_ptr<ClientTransaction> transaction,
                         std::vector<ShardId> others, std::optional<Timestamp> commit_at) {
  if (router.background == nullptr || others.empty()) return;
  router.background->SpawnOn(
      router.executor, [&router, transaction = std::move(transaction), others = std::move(others),
                        commit_at](base::CancellationToken cancelled) {
        return TellAll(router, transaction, others, commit_at, std::move(cancelled));
      });
}

// Its cursors are of no use any more, whatever becomes of it.
Awaitable<void> EndCursors(RouterState& router, ClientTransaction& transaction) {
  co_await CloseCursors(router.cursors->Take(transaction.TakeCursors()));
}

void NoteCommitted(RouterState& router, const std::shared_ptr<ClientTransaction>& transaction) {
  transaction->state = ClientTransaction::State::kCommitted;
  router.transactions->Remove(transaction);
  if (transaction->is_clients())
    router.metrics.transactions_committed.fetch_add(1, std::memory_order_relaxed);
}

// Ends the transaction on shards that have only read.
void ReleaseReaders(RouterState& router, const std::shared_ptr<ClientTransaction>& transaction) {
  std::vector<ShardId> readers = Without(transaction->participants(), transaction->writers());
  TellAllInBackground(router, transaction, std::move(readers), std::nullopt);
}

// True when an error says for sure that the shard has not done what it was asked for.
bool IsRefusal(const absl::Status& status) {
  return !Is(status, kNetwork) && !Is(status, kMaybeApplied) && !Is(status, kInterrupted) &&
         !Is(status, kShutdown);
}

// Asks all but the coordinator to prepare. Returns the highest prepare timestamp.
Awaitable<absl::StatusOr<Timestamp>> Prepare(RouterState& router,
                                             const ClientTransaction& transaction,
                                             const std::vector<ShardId>& writers, CallScope scope) {
  std::vector<ShardCall> calls;
  for (size_t i = 1; i < writers.size(); ++i) {
    bson::Builder body(transaction.EndCommand("_prepareTransaction").view());
    body.Append("coordinator", static_cast<int64_t>(writers.front().value));
    calls.push_back(CallOf(writers[i], body.Finish()));
  }
  Timestamp highest;
  const auto replies = co_await router.cluster->SendAll(std::move(calls), std::move(scope));
  for (const auto& reply : replies) {
    EVENKEEL_CO_RETURN_IF_ERROR(reply.status());
    const bson::Value time = reply->body["preparedAt"];
    if (!time.Is(bson::Type::kTimestamp)) {
      co_return MakeError(ErrorCode::kInternalError, "a shard's vote lacks its timestamp");
    }
    highest = std::max(highest, time.AsTimestamp());
  }
  co_return highest;
}

// Lets the first writer decide. Returns the commit timestamp.
Awaitable<absl::StatusOr<Timestamp>> Decide(RouterState& router,
                                            const ClientTransaction& transaction,
                                            const std::vector<ShardId>& writers, CallScope scope) {
  bson::Builder body(transaction.EndCommand("_commitTransaction").view());
  if (writers.size() > 1) {
    body.Append("after", transaction.prepared_at).OpenArray("participants");
    bson::ArrayAppender participants(body);
    for (size_t i = 1; i < writers.size(); ++i)
      participants.Add(static_cast<int64_t>(writers[i].value));
    body.Close();
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const wire::Message reply,
      co_await router.cluster->Send(CallOf(writers.front(), body.Finish()), std::move(scope)));
  const bson::Value time = reply.body["committedAt"];
  if (!time.Is(bson::Type::kTimestamp)) {
    co_return MakeError(ErrorCode::kInternalError, "a shard's decision lacks its timestamp");
  }
  co_return time.AsTimestamp();
}

Awaitable<void> TellUntil(RouterState& router, std::shared_ptr<ClientTransaction> transaction,
                          base::CancellationToken over, base::CancellationToken stopping) {
  const auto end = std::make_shared<base::CancellationSource>(stopping);
  over.OnCancel([end] { end->Cancel(); });
  co_await TellUnderWay(router, std::move(transaction), kUnderWayPeriod, end->token());
  co_return;
}

// Keeps other routers off a commit that takes long, until it is destroyed.
class UnderWay {
 public:
  UnderWay(RouterState& router, std::shared_ptr<ClientTransaction> transaction) {
    if (router.background == nullptr) return;
    router.background->SpawnOn(router.executor,
                               [&router, transaction = std::move(transaction),
                                over = over_.token()](base::CancellationToken stopping) {
                                 return TellUntil(router, transaction, over, std::move(stopping));
                               });
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() { over_.Cancel(); }

 private:
  base::CancellationSource over_;
};

// A vote or a decision that cannot be had ends the transaction; the client may start again.
absl::Status EndedBy(const absl::Status& status, TxnNumber number) {
  if (Is(status, kTransientTransaction) && !Is(status, kInternalOnly)) return status;
  if (!Is(status, kNetwork) && !Is(status, kInternalOnly)) return status;
  return Error(ErrorCode::kNoSuchTransaction, "Transaction {} has been aborted: {}", number.value,
               MessageOf(status));
}

}  // namespace

Awaitable<void> TellUnderWay(RouterState& router, std::shared_ptr<ClientTransaction> transaction,
                             absl::Duration period, base::CancellationToken over) {
  while (true) {
    const absl::Status slept = co_await base::Sleep(period, over);
    if (!slept.ok()) co_return;
    std::vector<ShardCall> calls;
    for (const ShardId shard : transaction->writers())
      calls.push_back(CallOf(shard, transaction->EndCommand("_commitUnderWay")));
    const CallScope scope{router.wall->Now() + period, over};
    (void)co_await router.cluster->SendAll(std::move(calls), scope);
  }
}

Awaitable<absl::Status> CommitTransaction(RouterState& router,
                                          std::shared_ptr<ClientTransaction> transaction,
                                          CallScope scope) {
  using State = ClientTransaction::State;
  if (transaction->state == State::kCommitted) co_return absl::OkStatus();
  if (transaction->state == State::kAborted) {
    co_return txn::TransactionAborted(transaction->number());
  }
  co_await EndCursors(router, *transaction);
  const std::vector<ShardId> writers = transaction->writers();
  if (writers.empty()) {
    NoteCommitted(router, transaction);
    ReleaseReaders(router, transaction);
    co_return absl::OkStatus();
  }
  const bool asks = writers.size() > 1 && !EVENKEEL_FAIL_POINT(txn_plant_no_prepare);
  std::optional<UnderWay> under_way;
  if (asks) under_way.emplace(router, transaction);
  if (asks && transaction->state == State::kOpen) {
    auto votes = co_await Prepare(router, *transaction, writers, scope);
    if (!votes.ok()) {
      co_await AbortTransaction(router, transaction);
      co_return EndedBy(votes.status(), transaction->number());
    }
    transaction->prepared_at = *votes;
  }
  // From here on the coordinator knows, and only it.
  transaction->state = State::kCommitting;
  const auto decided = co_await Decide(router, *transaction, writers, scope);
  if (!decided.ok()) {
    if (!IsRefusal(decided.status())) co_return decided.status();
    co_await AbortTransaction(router, transaction);
    co_return EndedBy(decided.status(), transaction->number());
  }
  NoteCommitted(router, transaction);
  router.clock->Observe(*decided);
  ReleaseReaders(router, transaction);
  TellAllInBackground(router, transaction, {writers.begin() + 1, writers.end()}, *decided);
  co_return absl::OkStatus();
}

Awaitable<void> AbortTransaction(RouterState& router,
                                 std::shared_ptr<ClientTransaction> transaction) {
  transaction->state = ClientTransaction::State::kAborted;
  router.transactions->Remove(transaction);
  co_await EndCursors(router, *transaction);
  if (transaction->is_clients())
    router.metrics.transactions_aborted.fetch_add(1, std::memory_order_relaxed);
  const std::vector<ShardId> writers = transaction->writers();
  const CallScope scope{router.wall->Now() + kAbortTimeMax, {}};
  // First where it could be decided.
  if (writers.size() > 1) {
    const auto ended = co_await router.cluster->Send(
        CallOf(writers.front(), transaction->EndCommand("_abortTransaction")), scope);
    // Whoever asks for the decision later ends it.
    if (!ended.ok()) co_return;
  }
  std::vector<ShardCall> calls;
  for (const ShardId shard : transaction->participants())
    calls.push_back(CallOf(shard, DecisionCommand(*transaction, std::nullopt)));
  (void)co_await router.cluster->SendAll(std::move(calls), scope);
}

}  // namespace evenkeel::router
