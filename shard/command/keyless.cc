// Answers a router that has to choose one document among several shards.
#include "shard/command/keyless.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "shard/command/candidates.h"
#include "shard/command/retry_log.h"
#include "shard/command/write_task.h"
#include "shard/commit/shard_state.h"
#include "txn/transaction_record.h"

namespace evenkeel::shard {
namespace {

using storage::Table;

// Looks at the newest state: a first attempt whose write is not durable yet has a record there.
class FindRecordTask final : public WriteTask {
 public:
  FindRecordTask(const RetryLog& retry, int32_t statement) : retry_(retry), statement_(statement) {}
  void Execute(storage::WriteContext& context) override {
    prepared = nullptr;
    found = retry_.Find(context, statement_, statement_);
    if (found.ok() && found->Of(statement_) == nullptr) prepared = PreparedOfSession(context);
  }
  size_t SizeBytes() const override { return 64; }
  absl::StatusOr<StoredResults> found;
  // It may bring a record: its outcome has to be waited for.
  std::shared_ptr<Transaction> prepared;

 private:
  std::shared_ptr<Transaction> PreparedOfSession(storage::WriteContext& context) const {
    if (!retry_.active()) return nullptr;
    for (const auto& transaction : StateOf(context).prepared) {
      const auto& rows = transaction->done.effects.effects(Table::kSessions);
      for (auto row = rows.lower_bound(retry_.lsid());
           row != rows.end() && row->first.starts_with(retry_.lsid()); ++row) {
        if (txn::IsRetryRecordKey(row->first)) return transaction;
      }
    }
    return nullptr;
  }

  const RetryLog retry_;
  const int32_t statement_;
};

// A statement of another attempt may go on for so long; then the next attempt ends it.
constexpr absl::Duration kRivalEndMax = absl::Seconds(1);

// A touch as a router asks for it.
struct Touch {
  std::string key;
  bool ends = false;  // an attempt that holds it, and is not prepared, is ended
};

// Touches keys: they become the transaction's, and have changed when it has committed.
class TouchTask final : public WriteTask {
 public:
  TouchTask(std::vector<Touch> touches, Intents& intents)
      : touches_(std::move(touches)), intents_(intents) {}
  void Execute(storage::WriteContext& context) override {
    rival = nullptr;
    for (const Touch& touch : touches_) {
      if (context.Claim(Table::kSessions, touch.key).ok()) {
        context.Remove(Table::kSessions, touch.key);
      } else if (touch.ends) {
        rival = intents_.Holder(Table::kSessions, touch.key);
      }
    }
  }
  size_t SizeBytes() const override { return 64; }
  std::shared_ptr<Transaction> rival;  // holds a key that it can be ended for; null: nobody

 private:
  const std::vector<Touch> touches_;
  Intents& intents_;
};

// Looks which of some documents a transaction could write.
class FindFreeTask final : public WriteTask {
 public:
  FindFreeTask(const std::vector<Candidate>& candidates, Timestamp read_at, const Intents& intents)
      : candidates_(candidates), read_at_(read_at), intents_(intents) {}
  void Execute(storage::WriteContext& context) override {
    free = std::find_if(candidates_.begin(), candidates_.end(),
                        [&](const Candidate& candidate) {
                          return intents_.Holder(Table::kDocs, candidate.doc_key) == nullptr &&
                                 !context.ChangedSince(Table::kDocs, candidate.doc_key, read_at_);
                        }) -
           candidates_.begin();
  }
  size_t SizeBytes() const override { return 64; }
  ptrdiff_t free = 0;  // the position of the first; past the end: none

 private:
  const std::vector<Candidate>& candidates_;
  const Timestamp read_at_;
  const Intents& intents_;
};

// The document that a statement takes: the first, but one of several statements which may take any
// does not run into another's.
Awaitable<absl::StatusOr<size_t>> PickOne(CommandContext& context, const WriteStatement& statement,
                                          const std::vector<Candidate>& found) {
  const bool any = context.records_statements && statement.sort().empty() && found.size() > 1;
  if (!any) co_return size_t{0};
  const auto task = std::make_shared<FindFreeTask>(found, context.transaction->read_at(),
                                                   context.service.transactions().intents());
  CommandWrites writes;
  EVENKEEL_CO_RETURN_IF_ERROR(writes.SubmitNow(context.service, task));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await writes.Executed());
  const auto free = static_cast<size_t>(task->free);
  co_return free < found.size() ? free : 0;
}

absl::StatusOr<std::vector<Touch>> TouchesOf(bson::View command) {
  std::vector<Touch> touches;
  const bson::Value field = command["touch"];
  if (field.missing()) return touches;
  if (!field.Is(bson::Type::kArray))
    return MakeError(ErrorCode::kInvalidOptions, "the field 'touch' must be an array");
  for (const auto& [index, value] : field.AsDocument()) {
    const bson::View touch = value.Is(bson::Type::kObject) ? value.AsDocument() : bson::View();
    const bson::Value key = touch["k"];
    if (!key.Is(bson::Type::kBinary) || !txn::IsTouchKey(key.AsBinary().bytes))
      return MakeError(ErrorCode::kInvalidOptions, "the field 'touch' must hold touches");
    touches.push_back({std::string(key.AsBinary().bytes), bson::Truthy(touch["ends"])});
  }
  return touches;
}

// Errors: WriteConflict when another transaction has a key, or had it after the snapshot: the
// statement begins again with a new one.
Awaitable<absl::Status> RunTouches(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<Touch> touches, TouchesOf(context.body()));
  if (touches.empty()) co_return absl::OkStatus();
  if (context.transaction == nullptr)
    co_return MakeError(ErrorCode::kInvalidOptions, "only transactions touch");
  const auto task =
      std::make_shared<TouchTask>(std::move(touches), context.service.transactions().intents());
  const absl::Status status = co_await SubmitAndWait(context, task);
  if (!status.ok() && task->rival != nullptr) {
    co_await context.service.Abort(task->rival,
                                   std::min(context.deadline, absl::Now() + kRivalEndMax));
  }
  co_return status;
}

Awaitable<absl::StatusOr<StoredResults>> FindStored(CommandContext& context, const RetryLog& retry,
                                                    int32_t statement) {
  while (true) {
    const auto task = std::make_shared<FindRecordTask>(retry, statement);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(context.service, task));
    if (task->prepared == nullptr) co_return std::move(task->found);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await context.WaitFor(task->prepared));
  }
}

}  // namespace

Awaitable<CommandResult> ChooseCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  StatementSpec spec;
  for (const auto& [name, value] : context.body()) {
    if (name == "filter" && value.Is(bson::Type::kObject)) spec.filter = value.AsDocument();
    if (name == "sort" && value.Is(bson::Type::kObject)) spec.sort = value.AsDocument();
    if (name == "hint") spec.hint = value;
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto statement,
                               WriteStatement::Compile(context, collection, spec));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<Candidate> found,
                               co_await FindFirst(context, *statement));
  bson::Builder reply;
  reply.Append("found", !found.empty());
  if (!found.empty()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const size_t chosen, co_await PickOne(context, *statement, found));
    reply.AppendBinary("t", 0, found[chosen].doc_key);
    if (!statement->sort().empty()) {
      reply.AppendArray("sortKey", statement->sort().KeyOf(found.front().document.view(),
                                                           statement->collation()));
    }
  }
  co_return reply.Finish();
}

Awaitable<CommandResult> TouchCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunTouches(context));
  co_return bson::Document();
}

Awaitable<CommandResult> FindRecordCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_RETURN_IF_ERROR(OpenCollection(*context.service.catalog(), envelope).status());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RetryLog retry, RetryLog::FromCommand(context, envelope));
  const bson::Value statement = context.body()["statement"];
  if (!statement.Is(bson::Type::kInt32)) {
    co_return MakeError(ErrorCode::kInvalidOptions, "the field 'statement' must be an integer");
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunTouches(context));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const StoredResults results,
                               co_await FindStored(context, retry, statement.AsInt32()));
  const txn::StatementResult* stored = results.Of(statement.AsInt32());
  bson::Builder reply;
  reply.Append("found", stored != nullptr);
  if (stored == nullptr) co_return reply.Finish();
  reply.Append("kind", static_cast<int32_t>(stored->kind));
  if (stored->kind == txn::StatementKind::kFindAndModify) {
    reply.Append("result", stored->reply);
    co_return reply.Finish();
  }
  reply.OpenDocument("result").Append("n", stored->matched);
  if (stored->kind == txn::StatementKind::kUpdate) reply.Append("nModified", stored->modified);
  if (!stored->upserted.value().missing()) {
    reply.OpenArray("upserted")
        .OpenDocument("0")
        .Append("index", 0)
        .Append("_id", stored->upserted)
        .Close()
        .Close();
  }
  reply.Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> WaitDurableCommand(CommandContext& context) {
  const bson::Value timestamp = context.body().Front().value;
  if (!timestamp.Is(bson::Type::kTimestamp)) {
    co_return MakeError(ErrorCode::kTypeMismatch, "_waitDurable takes a timestamp");
  }
  const auto done = std::make_shared<base::Event>();
  const auto status = std::make_shared<absl::Status>();
  context.service.store().WhenReadable(timestamp.AsTimestamp(),
                                       [done, status](absl::Status result) {
                                         *status = std::move(result);
                                         done->Set();
                                       });
  (void)co_await done->Wait();
  EVENKEEL_CO_RETURN_IF_ERROR(*status);
  co_return bson::Document();
}

}  // namespace evenkeel::shard
