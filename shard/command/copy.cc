// The receiving and the giving side of a copy.
#include "shard/command/copy.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/status.h"
#include "shard/command/document_write.h"
#include "shard/command/write_task.h"
#include "txn/retry_record.h"

namespace evenkeel::shard {
namespace {

// Puts documents that are not there yet: a repeated request changes nothing.
class CopyInTask final : public WriteTask {
 public:
  explicit CopyInTask(const Collection& collection) : collection_(collection) {}
  std::vector<PreparedDocument> documents;
  std::vector<std::pair<std::string, std::string>> sessions;
  int32_t added = 0;
  absl::Status status;

  void Execute(storage::WriteContext& context) override {
    for (const PreparedDocument& document : documents) {
      if (context.Get(storage::Table::kDocs, document.records.doc_key)) continue;
      status = InstallInsert(context, collection_, document);
      if (!status.ok()) return;
      ++added;
    }
    for (const auto& [key, value] : sessions) context.Put(storage::Table::kSessions, key, value);
  }

  size_t SizeBytes() const override {
    size_t bytes = 1024;
    for (const PreparedDocument& document : documents)
      bytes += document.document.SizeBytes() * 2 + 256;
    return bytes;
  }

 private:
  const Collection collection_;
};

}  // namespace

Awaitable<CommandResult> CopyInCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(context.service.store().Read(), envelope));
  const auto task = std::make_shared<CopyInTask>(collection);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> documents,
                               context.Documents("documents"));
  for (const bson::View document : documents) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(DocumentRecords records, RecordsOf(*collection.entry, document));
    task->documents.push_back({document, std::move(records)});
  }
  if (const bson::Value rows = context.body()["sessions"]; rows.Is(bson::Type::kArray)) {
    for (const auto& [key, row] : rows.AsDocument()) {
      task->sessions.emplace_back(row.AsDocument()["k"].AsBinary().bytes,
                                  row.AsDocument()["v"].AsBinary().bytes);
    }
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context.service, task));
  EVENKEEL_CO_RETURN_IF_ERROR(task->status);
  bson::Builder reply;
  reply.Append("n", task->added);
  co_return reply.Finish();
}

Awaitable<CommandResult> CopySessionsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  bson::Builder reply;
  reply.OpenArray("rows");
  bson::ArrayAppender array(reply);
  const storage::ReadSlice slice = context.service.store().Read();
  auto cursor = slice.NewCursor(storage::Table::kSessions);
  for (cursor->Seek(""); cursor->Valid(); cursor->Next()) {
    const auto record = txn::DecodeRetryRecord(cursor->record().value);
    if (!record.ok() || record->collection != envelope.collection) continue;
    if (txn::IsExpired(*record, context.service.wall().Now())) continue;
    reply.OpenDocument(array.NextKey());
    reply.AppendBinary("k", 0, cursor->key()).AppendBinary("v", 0, cursor->record().value).Close();
  }
  reply.Close();
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
