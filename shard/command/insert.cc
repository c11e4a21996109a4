// insert: puts documents that have their `_id`, in slices of the writer.
#include "shard/command/insert.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "shard/command/document_write.h"
#include "shard/command/retry_log.h"
#include "shard/command/write_task.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::shard {
namespace {

// Documents of one writer slice: enough to share a batch, few enough that other writes get in
// between.
constexpr size_t kSliceDocuments = 512;
constexpr size_t kSliceBytes = 4u << 20;

struct Statement {
  PreparedDocument document;
  absl::Status status;  // of preparing, then of the insert
};

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
    stale_ = CheckUnchanged(context, collection_);
    if (!stale_.ok()) return;
    std::vector<txn::StatementResult> before;
    if (retry_.active()) {
      auto found = retry_.Find(*context.NewCursor(storage::Table::kSessions));
      if (!found.ok()) {
        stale_ = found.status();
        return;
      }
      before = *std::move(found);
    }
    std::vector<txn::StatementResult> done;
    std::string_view place;
    for (size_t i = 0; i < statements_.size(); ++i) {
      Statement& statement = statements_[i];
      const int32_t id = retry_.StatementId(first_ + i);
      if (FindStatement(before, id) != nullptr) {
        ++inserted_;
        continue;
      }
      if (statement.status.ok())
        statement.status = InstallInsert(context, collection_, statement.document);
      if (statement.status.ok()) {
        ++inserted_;
        if (retry_.active()) {
          done.push_back({.statement = id, .kind = txn::StatementKind::kInsert, .matched = 1});
          if (place.empty()) place = statement.document.records.placement_key;
        }
      } else if (ordered_) {
        stopped_ = true;
        break;
      }
    }
    retry_.Put(context, collection_, place, now_, std::move(done));
  }

  size_t SizeBytes() const override { return bytes_; }

  const absl::Status& stale() const { return stale_; }
  size_t first() const { return first_; }
  const std::vector<Statement>& statements() const { return statements_; }
  int32_t inserted() const { return inserted_; }
  bool stopped() const { return stopped_; }

 private:
  const Collection collection_;
  const RetryLog retry_;
  const bool ordered_;
  const absl::Time now_;
  size_t first_ = 0;
  size_t bytes_ = 0;
  std::vector<Statement> statements_;
  absl::Status stale_;
  int32_t inserted_ = 0;
  bool stopped_ = false;
};

Statement Prepare(const Collection& collection, bson::View document) {
  Statement statement;
  statement.document.document = document;
  auto records = RecordsOf(*collection.entry, document);
  if (records.ok()) {
    statement.document.records = *std::move(records);
  } else {
    statement.status = records.status();
  }
  return statement;
}

bson::Document InsertReply(int32_t inserted,
                           const std::vector<std::pair<size_t, absl::Status>>& errors,
                           Timestamp early) {
  bson::Builder reply;
  reply.Append("n", inserted);
  if (!errors.empty()) {
    reply.OpenArray("writeErrors");
    bson::ArrayAppender array(reply);
    for (const auto& [index, status] : errors) {
      wire::AppendWriteError(reply, array.NextKey(), static_cast<int32_t>(index), status);
    }
    reply.Close();
  }
  if (early != Timestamp{}) reply.Append("durableAt", early);
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> InsertCommand(CommandContext& context) {
  ShardService& service = context.service;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(service.store().Read(), envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RetryLog retry, RetryLog::FromCommand(context, envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> documents,
                               context.Documents("documents"));
  const bson::Value ordered_field = context.body()["ordered"];
  const bool ordered = ordered_field.missing() || bson::Truthy(ordered_field);

  int32_t inserted = 0;
  std::vector<std::pair<size_t, absl::Status>> errors;
  PendingWrite last;
  size_t next = 0;
  bool stopped = false;
  while (next < documents.size() && !stopped) {
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    auto task = std::make_shared<InsertTask>(collection, retry, ordered, service.wall().Now());
    while (next < documents.size() && !task->IsFull()) {
      task->Add(next, Prepare(collection, documents[next]));
      ++next;
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(last, Submit(service, task));
    EVENKEEL_CO_RETURN_IF_ERROR(co_await last.Executed());
    if (!task->stale().ok()) {
      // Slices before this one stand; the router repeats the rest, which it sees by `n` and the
      // position.
      EVENKEEL_CO_RETURN_IF_ERROR(co_await last.Durable());
      if (task->first() == 0) co_return task->stale();
      errors.emplace_back(task->first(), task->stale());
      break;
    }
    inserted += task->inserted();
    stopped = task->stopped();
    for (size_t i = 0; i < task->statements().size(); ++i) {
      const absl::Status& status = task->statements()[i].status;
      if (!status.ok()) errors.emplace_back(task->first() + i, status);
      if (!status.ok() && ordered) break;
    }
  }
  if (envelope.early) co_return InsertReply(inserted, errors, last.timestamp());
  EVENKEEL_CO_RETURN_IF_ERROR(co_await last.Durable());
  co_return InsertReply(inserted, errors, {});
}

}  // namespace evenkeel::shard
