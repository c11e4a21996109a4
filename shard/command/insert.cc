// insert: puts documents that have their `_id`, in slices of the writer.
#include "shard/command/insert.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "shard/command/document_write.h"
#include "shard/command/retry_log.h"
#include "shard/command/write_reply.h"
#include "shard/command/write_task.h"

namespace evenkeel::shard {
namespace {

// Documents of one writer slice: enough to share a batch, few enough that other writes get in
// between.
constexpr size_t kSliceDocuments = 512;
constexpr size_t kSliceBytes = 4u << 20;

struct Statement {
  PreparedDocument document;
  absl::Status prepared;  // why it cannot be inserted
  absl::Status status;    // of the insert
};

// One slice on the writer. `collection`, `retry` and the documents live until it was executed.
class InsertTask final : public WriteTask {
 public:
  InsertTask(const Collection& collection, const RetryLog& retry, bool ordered, absl::Time now)
      : collection_(collection), retry_(retry), ordered_(ordered), now_(now) {}

  void Add(size_t position, Statement statement) {
    if (statements_.empty()) first_ = position;
    bytes_ += statement.document.document.SizeBytes() * 2 + 256;
    statements_.push_back(std::move(statement));
  }
  bool IsFull() const { return statements_.size() >= kSliceDocuments || bytes_ >= kSliceBytes; }

  void Execute(storage::WriteContext& context) override {
    inserted_ = 0;
    stopped_ = false;
    hash_.reset();
    refused_ = CheckUnchanged(context, collection_);
    if (!refused_.ok()) return;
    StoredResults before;
    if (retry_.active()) {
      const auto [least, most] = StatementRange();
      auto found = retry_.Find(context, least, most);
      refused_ = found.status();
      if (!refused_.ok()) return;
      before = *std::move(found);
      refused_ = before.CheckKind(txn::StatementKind::kInsert);
      if (!refused_.ok()) return;
    }
    std::vector<txn::StatementResult> done = InsertAll(context, before);
    retry_.Put(context, collection_, hash_, now_, before, std::move(done));
  }

  size_t SizeBytes() const override { return bytes_; }

  // Why nothing of the slice was done.
  const absl::Status& refused() const { return refused_; }
  size_t first() const { return first_; }
  const std::vector<Statement>& statements() const { return statements_; }
  int32_t inserted() const { return inserted_; }
  bool stopped() const { return stopped_; }

 private:
  std::pair<int32_t, int32_t> StatementRange() const {
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (size_t i = 0; i < statements_.size(); ++i) {
      least = std::min(least, retry_.StatementId(first_ + i));
      most = std::max(most, retry_.StatementId(first_ + i));
    }
    return {least, most};
  }

  // Inserts what was not inserted before. Returns the results to store.
  std::vector<txn::StatementResult> InsertAll(storage::WriteContext& context,
                                              const StoredResults& before) {
    absl::flat_hash_set<int32_t> done_before;
    for (const txn::StatementResult& result : before.results) done_before.insert(result.statement);
    std::vector<txn::StatementResult> done;
    for (size_t i = 0; i < statements_.size(); ++i) {
      Statement& statement = statements_[i];
      const int32_t id = retry_.StatementId(first_ + i);
      if (done_before.contains(id)) {
        statement.status = absl::OkStatus();
        ++inserted_;
        continue;
      }
      statement.status = statement.prepared;
      if (statement.status.ok())
        statement.status = InstallInsert(context, collection_, statement.document);
      if (statement.status.ok()) {
        ++inserted_;
        if (!retry_.active()) continue;
        done.push_back({.statement = id, .kind = txn::StatementKind::kInsert, .matched = 1});
        if (!hash_) hash_ = statement.document.records.hash;
      } else if (ordered_) {
        stopped_ = true;
        break;
      }
    }
    return done;
  }

  const Collection& collection_;
  const RetryLog& retry_;
  const bool ordered_;
  const absl::Time now_;
  size_t first_ = 0;
  size_t bytes_ = 0;
  std::vector<Statement> statements_;
  absl::Status refused_;
  int32_t inserted_ = 0;
  bool stopped_ = false;
  std::optional<int64_t> hash_;  // of the first document inserted
};

Statement Prepare(const Collection& collection, bson::View document) {
  Statement statement;
  statement.document.document = document;
  auto records = RecordsOf(*collection.entry, document);
  if (records.ok()) {
    statement.document.records = *std::move(records);
  } else {
    statement.prepared = records.status();
  }
  return statement;
}

// What one insert command carries from slice to slice.
struct Run {
  CommandContext& context;
  const Collection& collection;
  const RetryLog& retry;
  const std::vector<bson::View>& documents;
  const bool ordered;
  CommandWrites writes;
  int32_t inserted = 0;
  WriteErrors errors;
  size_t next = 0;  // the first document that no slice has taken
  bool stopped = false;
};

void AddResults(const InsertTask& task, Run* run) {
  run->inserted += task.inserted();
  run->stopped = task.stopped();
  for (size_t i = 0; i < task.statements().size(); ++i) {
    const absl::Status& status = task.statements()[i].status;
    if (status.ok()) continue;
    run->errors.emplace_back(task.first() + i, status);
    if (run->ordered) break;
  }
}

// Inserts the next slice. Errors: nothing of it was done, `next` stands at its first document.
Awaitable<absl::Status> RunSlice(Run& run) {
  ShardService& service = run.context.service;
  EVENKEEL_CO_RETURN_IF_ERROR(run.context.CheckInterrupt());
  auto task =
      std::make_shared<InsertTask>(run.collection, run.retry, run.ordered, service.wall().Now());
  size_t end = run.next;
  for (; end < run.documents.size() && !task->IsFull(); ++end) {
    task->Add(end, Prepare(run.collection, run.documents[end]));
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await run.writes.Submit(run.context, task));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await run.writes.Executed());
  EVENKEEL_CO_RETURN_IF_ERROR(task->refused());
  AddResults(*task, &run);
  run.next = end;
  co_return absl::OkStatus();
}

bson::Document InsertReply(const Run& run, bool early) {
  bson::Builder reply;
  reply.Append("n", run.inserted);
  AppendWriteErrors(reply, run.errors);
  if (early) reply.Append("durableAt", run.writes.timestamp());
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> InsertCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RetryLog retry, RetryLog::FromCommand(context, envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> documents,
                               context.Documents("documents"));
  const bson::Value ordered_field = context.body()["ordered"];
  const bool ordered = ordered_field.missing() || bson::Truthy(ordered_field);

  Run run{context, collection, retry, documents, ordered, {}, 0, {}, 0, false};
  while (run.next < documents.size() && !run.stopped) {
    const absl::Status failed = co_await RunSlice(run);
    if (failed.ok()) continue;
    // Before anything was done the router may route the whole request again, and a retryable one is
    // sent again by the driver. Else what was done stands, and the rest is told as failed.
    EVENKEEL_CO_RETURN_IF_ERROR(co_await run.writes.Durable());
    if (run.next == 0 || (retry.active() && Is(failed, kRetryableWrite))) co_return failed;
    const size_t end = ordered ? run.next + 1 : documents.size();
    for (size_t i = run.next; i < end; ++i) run.errors.emplace_back(i, failed);
    break;
  }
  const bool early = envelope.early && run.writes.any();
  if (!early) EVENKEEL_CO_RETURN_IF_ERROR(co_await run.writes.Durable());
  co_return InsertReply(run, early);
}

}  // namespace evenkeel::shard
