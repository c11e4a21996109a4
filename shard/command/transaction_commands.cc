// Commit, prepare, decisions.
#include "shard/command/transaction_commands.h"

#include <absl/time/clock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "shard/command/keyed_locks.h"
#include "shard/command/transaction_statement.h"
#include "shard/command/write_task.h"
#include "shard/commit/write_contexts.h"
#include "storage/read/overlay.h"
#include "txn/retry_record.h"
#include "txn/transaction_record.h"

namespace evenkeel::shard {
namespace {

using storage::Table;

// What one effect needs in the log beside its key and value.
constexpr size_t kEffectBytes = 64;
constexpr absl::Duration kTurnWaitMax = absl::Milliseconds(50);

size_t BytesOf(const Transaction& transaction) {
  size_t bytes = 4096 + transaction.done.effects.live_bytes() +
                 transaction.done.counters.size() * (kEffectBytes * 2);
  for (size_t table = 0; table < storage::kTableCount; ++table)
    bytes += transaction.done.effects.effects(static_cast<Table>(table)).size() * kEffectBytes;
  return bytes;
}

// What the session's newest row says of a number. Errors: InvalidBSON.
absl::StatusOr<txn::RetryRecordFacts> NewestOf(const std::optional<storage::Record>& row) {
  if (!row) return txn::RetryRecordFacts{TxnNumber{INT64_MIN}};
  return txn::FactsOf(row->value);
}

// A step in the end of one transaction.
class EndTask : public WriteTask {
 public:
  EndTask(ShardService& service, std::shared_ptr<Transaction> transaction)
      : transaction_(std::move(transaction)),
        intents_(service.transactions().intents()),
        now_(service.wall().Now()) {}

  size_t SizeBytes() const override { return BytesOf(*transaction_); }
  bool IsEssential() const override { return true; }
  absl::Status status;

 protected:
  Transaction& transaction() { return *transaction_; }

  // What has to hold for a promise or a commit.
  absl::Status Check(storage::WriteContext& context) {
    if (transaction_->state != TransactionState::kActive)
      return txn::TransactionAborted(transaction_->id().number);
    EVENKEEL_ASSIGN_OR_RETURN(
        const txn::RetryRecordFacts newest,
        NewestOf(context.Get(Table::kSessions, txn::NewestRecordKey(transaction_->id().lsid))));
    if (newest.txn > transaction_->id().number) {
      return Error(ErrorCode::kTransactionTooOld,
                   "the session has gone on to transaction {} while {} was open", newest.txn.value,
                   transaction_->id().number.value);
    }
    return CheckCollections(context, *transaction_);
  }

  // Nobody asks for a statement's own transaction by its session.
  void PutNewestRow(storage::WriteContext& context) {
    if (transaction_->kind == TransactionKind::kStatement) return;
    txn::RetryRecord row;
    row.txn = transaction_->id().number;
    row.written_ms = absl::ToUnixMillis(now_);
    row.committed = true;
    context.Put(Table::kSessions, txn::NewestRecordKey(transaction_->id().lsid),
                txn::EncodeRetryRecord(row));
  }

  // Its keys are free for what the writer executes next.
  void End(TransactionState state) {
    transaction_->state = state;
    intents_.Release(*transaction_);
    transaction_->off_keys.Reach();
  }

  // The list without it.
  void Unpublish(storage::WriteContext& context) {
    PreparedList prepared = StateOf(context).prepared;
    std::erase(prepared, transaction_);
    SetPrepared(context, std::move(prepared));
  }
  void Publish(storage::WriteContext& context) {
    PreparedList prepared = StateOf(context).prepared;
    prepared.push_back(transaction_);
    SetPrepared(context, std::move(prepared));
  }

 private:
  const std::shared_ptr<Transaction> transaction_;
  Intents& intents_;
  const absl::Time now_;
};

// Everything in one batch, and the decision with it.
class CommitTask final : public EndTask {
 public:
  CommitTask(ShardService& service, std::shared_ptr<Transaction> transaction,
             std::vector<ShardId> participants, Timestamp above)
      : EndTask(service, std::move(transaction)),
        participants_(std::move(participants)),
        above_(above) {}

  void Execute(storage::WriteContext& context) override {
    status = Check(context);
    if (!status.ok()) return;
    context.NextUnit();
    if (above_ != Timestamp{} && EVENKEEL_FAIL_POINT(txn_plant_no_tick)) context.NextUnitAt(above_);
    const Timestamp now = context.timestamp();
    Install(context, transaction());
    PutNewestRow(context);
    if (!participants_.empty()) {
      context.Put(Table::kSessions, txn::DecisionKey(transaction().id()),
                  txn::EncodeDecision({now, participants_}));
    }
    transaction().committed_at = now;
    End(TransactionState::kCommitted);
  }

 private:
  const std::vector<ShardId> participants_;
  const Timestamp above_;  // the votes; the clock has seen them
};

class PrepareTask final : public EndTask {
 public:
  PrepareTask(ShardService& service, std::shared_ptr<Transaction> transaction)
      : EndTask(service, std::move(transaction)) {
    rows_ = txn::EncodePrepared(this->transaction().done);
  }

  void Execute(storage::WriteContext& context) override {
    if (transaction().state == TransactionState::kPrepared) return;  // asked again
    status = Check(context);
    if (!status.ok()) return;
    context.NextUnit();
    for (uint32_t part = 0; part < rows_.size(); ++part)
      context.Put(Table::kSessions, txn::PreparedKey(transaction().id(), part), rows_[part]);
    transaction().prepared_at = context.timestamp();
    transaction().state = TransactionState::kPrepared;
    Publish(context);
  }

  size_t SizeBytes() const override {
    size_t bytes = 4096;
    for (const std::string& row : rows_) bytes += row.size() + kEffectBytes;
    return bytes;
  }

 private:
  std::vector<std::string> rows_;
};

// The decision of another shard.
class ApplyTask final : public EndTask {
 public:
  ApplyTask(ShardService& service, std::shared_ptr<Transaction> transaction,
            std::optional<Timestamp> commit_at)
      : EndTask(service, std::move(transaction)), commit_at_(commit_at) {
    const size_t rows = 2 + this->transaction().done.effects.live_bytes() / txn::kPartBytes +
                        BytesOf(this->transaction()) / txn::kPartBytes;
    removals_bytes_ = 4096 + rows * kEffectBytes * 2;
  }

  void Execute(storage::WriteContext& context) override {
    const TransactionState state = transaction().state;
    if (state == TransactionState::kActive) return End(TransactionState::kAborted);
    if (state != TransactionState::kPrepared) return;
    if (commit_at_) {
      context.NextUnitAt(*commit_at_);
      Install(context, transaction());
      transaction().committed_at = *commit_at_;
    } else {
      context.NextUnit();
    }
    RemoveRows(context);
    Unpublish(context);
    End(commit_at_ ? TransactionState::kCommitted : TransactionState::kAborted);
  }

  size_t SizeBytes() const override {
    return (commit_at_ ? EndTask::SizeBytes() : kEffectBytes) + removals_bytes_;
  }

 private:
  void RemoveRows(storage::WriteContext& context) {
    std::vector<std::string> keys;
    const auto cursor = context.NewCursor(Table::kSessions);
    const txn::TransactionId& id = transaction().id();
    const std::string end = storage::PrefixEnd(txn::PreparedKey(id, UINT32_MAX));
    for (cursor->Seek(txn::PreparedKey(id, 0), end); cursor->Valid(); cursor->Next()) {
      keys.emplace_back(cursor->key());
    }
    for (const std::string& key : keys) context.Remove(Table::kSessions, key);
  }

  const std::optional<Timestamp> commit_at_;
  size_t removals_bytes_ = 0;
};

class AbortTask final : public EndTask {
 public:
  using EndTask::EndTask;
  void Execute(storage::WriteContext&) override {
    if (transaction().state == TransactionState::kActive) End(TransactionState::kAborted);
  }
  size_t SizeBytes() const override { return 64; }
};

class ForgetTask final : public WriteTask {
 public:
  explicit ForgetTask(std::string key) : key_(std::move(key)) {}
  void Execute(storage::WriteContext& context) override {
    if (context.Get(Table::kSessions, key_)) context.Remove(Table::kSessions, key_);
  }
  size_t SizeBytes() const override { return 128; }
  bool IsEssential() const override { return true; }

 private:
  const std::string key_;
};

// Runs the task once no statement is under way, and waits until its outcome is visible. A
// transaction that is over then is forgotten.
Awaitable<absl::Status> RunEnd(ShardService& service, std::shared_ptr<Transaction> transaction,
                               std::shared_ptr<EndTask> task) {
  CommandWrites writes;
  absl::Status status = writes.SubmitNow(service, task);
  if (status.ok()) status = co_await writes.Executed();
  if (status.ok() && !EVENKEEL_FAIL_POINT(txn_plant_early_answer))
    status = co_await writes.Durable();
  if (!status.ok()) {
    base::LogWarning("shard", "the end of a transaction was refused",
                     {{"txnNumber", transaction->id().number.value}, {"error", status}});
  }
  const TransactionState state = transaction->state;
  if (state == TransactionState::kCommitted || state == TransactionState::kAborted) {
    transaction->ended.Reach();
    service.transactions().Remove(*transaction);
  }
  co_return status.ok() ? task->status : status;
}

// The same for a promise or a commit: one that cannot be had ends the transaction.
Awaitable<absl::Status> RunOrAbort(ShardService& service, std::shared_ptr<Transaction> transaction,
                                   std::shared_ptr<EndTask> task) {
  const absl::Status status = co_await RunEnd(service, transaction, std::move(task));
  if (!status.ok() && transaction->state == TransactionState::kActive) {
    (void)co_await RunEnd(service, transaction, std::make_shared<AbortTask>(service, transaction));
  }
  co_return status;
}

Awaitable<absl::StatusOr<KeyedLocks::Guard>> TakeTurn(ShardService& service,
                                                      const Transaction& transaction) {
  co_return co_await service.transaction_locks().Lock(transaction.lock);
}

bson::Document CommittedReply(Timestamp timestamp) {
  bson::Builder reply;
  reply.Append("committedAt", timestamp);
  return reply.Finish();
}

// The outcome of a transaction that is not open here. Nothing: it was not committed here.
absl::StatusOr<std::optional<Timestamp>> OutcomeInRows(ShardService& service,
                                                       const txn::TransactionId& id) {
  const storage::ReadSlice slice = service.store().Read();
  if (const auto row = slice.Get(Table::kSessions, txn::DecisionKey(id))) {
    EVENKEEL_ASSIGN_OR_RETURN(const txn::Decision decision, txn::DecodeDecision(row->value));
    return decision.committed_at;
  }
  EVENKEEL_ASSIGN_OR_RETURN(const txn::RetryRecordFacts newest,
                            NewestOf(slice.Get(Table::kSessions, txn::NewestRecordKey(id.lsid))));
  if (newest.txn == id.number && newest.committed) return slice.timestamp();
  if (newest.txn > id.number) {
    return Error(ErrorCode::kTransactionTooOld,
                 "Transaction {} is older than the session's newest, {}", id.number.value,
                 newest.txn.value);
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<ShardId>> ParticipantsOf(bson::View command) {
  std::vector<ShardId> out;
  const bson::Value field = command["participants"];
  if (field.missing()) return out;
  if (!field.Is(bson::Type::kArray))
    return MakeError(ErrorCode::kInvalidOptions, "participants must be an array");
  for (const auto& [key, shard] : field.AsDocument())
    out.push_back(ShardId{static_cast<uint32_t>(bson::ToInt64Truncated(shard))});
  return out;
}

}  // namespace

Awaitable<CommandResult> CommitTransactionCommand(CommandContext& context) {
  ShardService& service = context.service;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const txn::TransactionId id, TransactionIdOf(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<ShardId> participants, ParticipantsOf(context.body()));
  Timestamp above;
  if (const bson::Value after = context.body()["after"]; after.Is(bson::Type::kTimestamp)) {
    above = after.AsTimestamp();
    service.clock().Observe(above);
  }
  const auto transaction = service.transactions().Find(id);
  if (transaction == nullptr) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const auto outcome, OutcomeInRows(service, id));
    if (outcome) co_return CommittedReply(*outcome);
    co_return txn::TransactionAborted(id.number);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const KeyedLocks::Guard turn,
                               co_await TakeTurn(service, *transaction));
  if (transaction->state == TransactionState::kCommitted)
    co_return CommittedReply(transaction->committed_at);
  (void)EVENKEEL_FAIL_POINT(txn_coordinator_before_decision);
  const absl::Status status =
      co_await RunOrAbort(service, transaction,
                          std::make_shared<CommitTask>(service, transaction, participants, above));
  (void)EVENKEEL_FAIL_POINT(txn_coordinator_after_decision);
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  if (!participants.empty()) {
    service.transactions().AddDecision(id, {transaction->committed_at, std::move(participants)},
                                       service.wall().Now());
  }
  co_return CommittedReply(transaction->committed_at);
}

Awaitable<CommandResult> PrepareTransactionCommand(CommandContext& context) {
  ShardService& service = context.service;
  (void)EVENKEEL_FAIL_POINT(txn_participant_before_prepare);
  if (EVENKEEL_FAIL_POINT(txn_participant_vote_abort)) {
    co_return MakeError(ErrorCode::kNoSuchTransaction, "fail point txn_participant_vote_abort");
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const txn::TransactionId id, TransactionIdOf(context.body()));
  const auto transaction = service.transactions().Find(id);
  if (transaction == nullptr) {
    co_return txn::TransactionAborted(id.number);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const KeyedLocks::Guard turn,
                               co_await TakeTurn(service, *transaction));
  if (transaction->state == TransactionState::kActive) {
    transaction->Use(service.wall().Now());
    transaction->done.coordinator =
        ShardId{static_cast<uint32_t>(bson::ToInt64Truncated(context.body()["coordinator"]))};
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunOrAbort(
      service, transaction, std::make_shared<PrepareTask>(service, transaction)));
  (void)EVENKEEL_FAIL_POINT(txn_participant_after_prepare);
  bson::Builder reply;
  reply.Append("preparedAt", transaction->prepared_at);
  co_return reply.Finish();
}

Awaitable<CommandResult> CommitUnderWayCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const txn::TransactionId id, TransactionIdOf(context.body()));
  const auto transaction = context.service.transactions().Find(id);
  if (transaction != nullptr) transaction->Use(context.service.wall().Now());
  co_return bson::Document();
}

Awaitable<CommandResult> ApplyDecisionCommand(CommandContext& context) {
  ShardService& service = context.service;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const txn::TransactionId id, TransactionIdOf(context.body()));
  const auto transaction = service.transactions().Find(id);
  if (transaction == nullptr) co_return bson::Document();
  (void)EVENKEEL_FAIL_POINT(txn_participant_before_outcome);
  std::optional<Timestamp> commit_at;
  if (const bson::Value time = context.body()["commitAt"]; time.Is(bson::Type::kTimestamp))
    commit_at = time.AsTimestamp();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const KeyedLocks::Guard turn,
                               co_await TakeTurn(service, *transaction));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunEnd(
      service, transaction, std::make_shared<ApplyTask>(service, transaction, commit_at)));
  (void)EVENKEEL_FAIL_POINT(txn_participant_after_outcome);
  co_return bson::Document();
}

Awaitable<CommandResult> AbortTransactionCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const txn::TransactionId id, TransactionIdOf(context.body()));
  const auto transaction = context.service.transactions().Find(id);
  if (transaction != nullptr) co_await context.service.Abort(transaction);
  co_return bson::Document();
}

Awaitable<CommandResult> DecisionOfCommand(CommandContext& context) {
  ShardService& service = context.service;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const txn::TransactionId id, TransactionIdOf(context.body()));
  if (const auto transaction = service.transactions().Find(id)) {
    co_await service.Abort(transaction);
    (void)co_await transaction->ended.Wait(absl::InfiniteFuture(), base::CancellationToken());
    if (transaction->state == TransactionState::kCommitted)
      co_return CommittedReply(transaction->committed_at);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto outcome, OutcomeInRows(service, id));
  co_return outcome ? CommittedReply(*outcome) : bson::Document();
}

Awaitable<CommandResult> ForgetDecisionCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const txn::TransactionId id, TransactionIdOf(context.body()));
  (void)EVENKEEL_FAIL_POINT(txn_coordinator_before_forget);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(
      context.service, std::make_shared<ForgetTask>(txn::DecisionKey(id))));
  (void)EVENKEEL_FAIL_POINT(txn_coordinator_after_forget);
  context.service.transactions().RemoveDecision(id);
  co_return bson::Document();
}

Awaitable<CommandResult> ListPreparedCommand(CommandContext& context) {
  constexpr uint8_t kUuid = 4;
  const absl::Time now = context.service.wall().Now();
  bson::Builder reply;
  reply.OpenArray("prepared");
  bson::ArrayAppender rows(reply);
  const auto append_id = [&](const txn::TransactionId& id) {
    reply.OpenDocument("lsid").AppendBinary("id", kUuid, id.lsid).Close();
    reply.Append("txnNumber", id.number.value);
  };
  const auto state = context.service.state();
  for (const auto& transaction : state->prepared) {
    reply.OpenDocument(rows.NextKey());
    append_id(transaction->id());
    reply.Append("coordinator", static_cast<int64_t>(transaction->done.coordinator.value))
        .Append("seconds", absl::ToInt64Seconds(now - transaction->last_use()))
        .Close();
  }
  reply.Close().OpenArray("decisions");
  bson::ArrayAppender decisions(reply);
  for (const auto& [id, decision, since] : context.service.transactions().Decisions()) {
    reply.OpenDocument(decisions.NextKey());
    append_id(id);
    reply.Append("committedAt", decision.committed_at)
        .Append("seconds", absl::ToInt64Seconds(now - since))
        .OpenArray("participants");
    bson::ArrayAppender participants(reply);
    for (const ShardId shard : decision.participants)
      participants.Add(static_cast<int64_t>(shard.value));
    reply.Close().Close();
  }
  reply.Close();
  co_return reply.Finish();
}

absl::StatusOr<PreparedList> LoadPrepared(const storage::ReadSlice& slice, TransactionTable& table,
                                          absl::Time now) {
  PreparedList out;
  const auto cursor = slice.NewCursor(Table::kSessions);
  cursor->Seek({}, {});
  while (cursor->Valid()) {
    if (txn::IsDecisionKey(cursor->key())) {
      EVENKEEL_ASSIGN_OR_RETURN(txn::Decision decision,
                                txn::DecodeDecision(cursor->record().value));
      table.AddDecision(txn::IdOfKey(cursor->key()), std::move(decision), now);
    }
    if (!txn::IsPreparedKey(cursor->key())) {
      cursor->Next();
      continue;
    }
    txn::TransactionId id = txn::IdOfKey(cursor->key());
    std::vector<std::string> rows;
    for (;
         cursor->Valid() && txn::IsPreparedKey(cursor->key()) && txn::IdOfKey(cursor->key()) == id;
         cursor->Next()) {
      rows.emplace_back(cursor->record().value);
    }
    EVENKEEL_ASSIGN_OR_RETURN(txn::PreparedTransaction prepared, txn::DecodePrepared(rows));
    prepared.id = std::move(id);
    out.push_back(table.Restore(std::move(prepared), now));
  }
  return out;
}

Awaitable<void> ShardService::Abort(std::shared_ptr<Transaction> transaction, absl::Time deadline) {
  const auto turn = co_await transaction_locks_->Lock(transaction->lock, deadline);
  if (!turn.ok() || transaction->state != TransactionState::kActive) co_return;
  (void)co_await RunEnd(*this, transaction, std::make_shared<AbortTask>(*this, transaction));
}

Awaitable<void> ShardService::EndOldTransactions() {
  const absl::Time now = wall_->Now();
  const absl::Duration lifetime = absl::Seconds(transaction_lifetime_seconds.load());
  for (const auto& transaction : transactions_->All()) {
    const bool is_old = transaction->kind == TransactionKind::kSnapshot
                            ? transaction->last_use() < now - kCursorIdleMax
                            : transaction->started < now - lifetime;
    // One whose statement goes on is ended the next time.
    if (is_old) co_await Abort(transaction, absl::Now() + kTurnWaitMax);
  }
}

}  // namespace evenkeel::shard
