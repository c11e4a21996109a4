// The receiving side of a copy, and the rows of retryable writes.
#include "shard/command/copy.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/fail_point.h"
#include "base/status.h"
#include "shard/command/document_write.h"
#include "shard/command/write_task.h"
#include "shard/commit/retry_rows.h"
#include "txn/retry_record.h"

namespace evenkeel::shard {
namespace {

// Documents and rows of one slice on the writer: it becomes one record of the log.
constexpr size_t kSliceBytes = 4u << 20;
// Bytes of rows in one reply of _copySessions; the caller asks on behind its last one.
constexpr size_t kRowBytesPerReply = 8u << 20;
constexpr size_t kRowsPerSlice = 1024;

// Puts documents that are not there yet: a repeated request changes nothing. The documents live
// until it was executed.
class CopyInTask final : public WriteTask {
 public:
  explicit CopyInTask(const Collection& collection) : collection_(collection) {}

  void Add(PreparedDocument document) {
    bytes_ += document.document.SizeBytes() * 2 + 256;
    documents_.push_back(std::move(document));
  }
  void AddRow(std::string_view key, std::string_view value) {
    bytes_ += key.size() + value.size();
    rows_.emplace_back(key, value);
  }
  bool IsFull() const { return bytes_ >= kSliceBytes; }

  void Execute(storage::WriteContext& context) override {
    status = CheckSameVersion(context, collection_);
    for (size_t i = 0; i < documents_.size() && status.ok(); ++i) {
      if (context.Get(storage::Table::kDocs, documents_[i].records.doc_key)) continue;
      status = InstallInsert(context, collection_, documents_[i]);
      if (status.ok()) ++added;
    }
    for (const auto& [key, value] : rows_) {
      if (status.ok()) PutRetryRow(context, key, value);
    }
  }
  size_t SizeBytes() const override { return bytes_; }

  int32_t added = 0;
  absl::Status status;

 private:
  const Collection& collection_;
  std::vector<PreparedDocument> documents_;
  std::vector<std::pair<std::string, std::string>> rows_;
  size_t bytes_ = 1024;
};

Awaitable<absl::Status> CopyDocuments(CommandContext& context, const Collection& collection,
                                      int32_t* added) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> documents,
                               context.Documents("documents"));
  for (size_t next = 0; next < documents.size();) {
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    (void)EVENKEEL_FAIL_POINT(shard_move_between_slices);
    const auto task = std::make_shared<CopyInTask>(collection);
    for (; next < documents.size() && !task->IsFull(); ++next) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(DocumentRecords records,
                                   RecordsOf(*collection.entry, documents[next]));
      task->Add({documents[next], std::move(records)});
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context, task));
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
    *added += task->added;
  }
  co_return absl::OkStatus();
}

Awaitable<absl::Status> CopyRows(CommandContext& context, const Collection& collection,
                                 bson::View rows) {
  for (auto next = rows.begin(); next != rows.end();) {
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    const auto task = std::make_shared<CopyInTask>(collection);
    for (; next != rows.end() && !task->IsFull(); ++next) {
      const bson::View row =
          next->value.Is(bson::Type::kObject) ? next->value.AsDocument() : bson::View();
      const bson::Value key = row["k"], value = row["v"];
      if (!key.Is(bson::Type::kBinary) || !value.Is(bson::Type::kBinary)) {
        co_return MakeError(ErrorCode::kInvalidOptions, "_copyIn has a damaged row of a session");
      }
      task->AddRow(key.AsBinary().bytes, value.AsBinary().bytes);
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context, task));
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
  }
  co_return absl::OkStatus();
}

// Goes through the sessions table behind `next` and appends rows of the collection. False at its
// end.
bool AppendRows(CommandContext& context, CollectionId collection, std::string* next,
                bson::Builder* reply, bson::ArrayAppender* rows) {
  const storage::ReadSlice slice = context.service.store().Read();
  const absl::Time now = context.service.wall().Now();
  const auto cursor = slice.NewCursor(storage::Table::kSessions);
  cursor->Seek(*next, {});
  for (size_t i = 0; i < kRowsPerSlice; ++i, cursor->Next()) {
    if (!cursor->Valid()) return false;
    *next = std::string(cursor->key()) + '\0';
    if (!txn::IsRetryRecordKey(cursor->key())) continue;
    const std::string_view value = cursor->record().value;
    const auto record = txn::DecodeRetryRecord(value);
    if (!record.ok() || record->collection != collection || txn::IsExpired(*record, now)) continue;
    reply->OpenDocument(rows->NextKey());
    reply->AppendBinary("k", 0, cursor->key()).AppendBinary("v", 0, value).Close();
    if (reply->SizeBytes() > kRowBytesPerReply) break;
  }
  return true;
}

}  // namespace

Awaitable<CommandResult> CopyInCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  int32_t added = 0;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await CopyDocuments(context, collection, &added));
  if (const bson::Value rows = context.body()["sessions"]; rows.Is(bson::Type::kArray)) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await CopyRows(context, collection, rows.AsDocument()));
  }
  bson::Builder reply;
  reply.Append("n", added);
  co_return reply.Finish();
}

Awaitable<CommandResult> CopySessionsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_RETURN_IF_ERROR(OpenCollection(*context.service.catalog(), envelope).status());
  std::string next;
  if (const bson::Value after = context.body()["after"]; after.Is(bson::Type::kBinary)) {
    next = std::string(after.AsBinary().bytes);
  }
  const auto home = context.service.executor();
  co_await base::SwitchTo(context.service.pool());
  bson::Builder reply;
  reply.OpenArray("rows");
  bson::ArrayAppender rows(reply);
  bool more = true;
  absl::Status status;
  while (more && status.ok() && reply.SizeBytes() <= kRowBytesPerReply) {
    more = AppendRows(context, envelope.collection, &next, &reply, &rows);
    status = context.CheckInterrupt();
  }
  co_await base::SwitchTo(home);
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  reply.Close();
  if (more) reply.AppendBinary("after", 0, next);
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
