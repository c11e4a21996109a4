// Walks the documents in slices; the writer adds a document's records only if its version is still
// the one read.
#include "shard/command/build_index.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "shard/command/document_write.h"
#include "shard/command/scan.h"
#include "shard/command/write_task.h"
#include "storage/keys/key_encoding.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::shard {
namespace {

constexpr size_t kRecordsPerSlice = 512;

// The records of one document as it was read.
struct ReadDocument {
  std::string doc_key;
  Timestamp version;
  bson::Document document;
  std::vector<IndexRecord> records;
  bool multikey = false;
};

// Adds the records of one slice. A document that has changed since keeps the index itself: the
// writer does so for every write after the job's first step.
class BuildTask final : public WriteTask {
 public:
  BuildTask(const Collection& collection, const catalog::IndexEntry& index,
            std::vector<ReadDocument> documents)
      : collection_(collection), index_(index), documents_(std::move(documents)) {}

  void Execute(storage::WriteContext& context) override {
    status = CheckUnchanged(context, collection_);
    for (size_t i = 0; i < documents_.size() && status.ok(); ++i) Add(context, documents_[i]);
  }
  size_t SizeBytes() const override { return documents_.size() * 512; }
  absl::Status status;

 private:
  void Add(storage::WriteContext& context, const ReadDocument& document) {
    const auto stored = context.Get(storage::Table::kDocs, document.doc_key);
    if (!stored || stored->commit_timestamp != document.version) return;
    for (const IndexRecord& record : document.records) {
      if (context.Get(storage::Table::kIndex, record.key)) continue;
      if (index_.unique && IsTaken(context, collection_, record, document.doc_key)) {
        status = DuplicateOf(collection_, index_, document.document.view());
        return;
      }
      PutIndexRecord(context, record);
    }
    if (document.multikey) MarkMultikey(context, index_.id);
  }

  const Collection collection_;
  const catalog::IndexEntry& index_;
  const std::vector<ReadDocument> documents_;
};

absl::StatusOr<std::vector<ReadDocument>> ReadSliceOf(CommandContext& context,
                                                      const catalog::IndexEntry& index, Scan* scan,
                                                      bool* ended) {
  std::vector<ReadDocument> documents;
  absl::Status status;
  const storage::ReadSlice slice = context.service.store().Read();
  EVENKEEL_ASSIGN_OR_RETURN(*ended, scan->Run(slice, kRecordsPerSlice, [&](const Found& found) {
    ReadDocument document{
        std::string(found.doc_key), found.version, bson::Document(found.document), {}, false};
    status = AppendIndexRecords(index, document.document.view(), document.doc_key,
                                &document.records, &document.multikey);
    documents.push_back(std::move(document));
    return status.ok() ? Scan::Visit::kContinue : Scan::Visit::kStop;
  }));
  EVENKEEL_RETURN_IF_ERROR(status);
  return documents;
}

}  // namespace

Awaitable<CommandResult> BuildIndexCommand(CommandContext& context) {
  ShardService& service = context.service;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(service.store().Read(), envelope));
  const auto id = bson::ToInt64Exact(context.body()["index"]);
  const catalog::IndexEntry* index = nullptr;
  for (const catalog::IndexEntry& entry : collection.entry->indexes) {
    if (id && entry.id == IndexId{static_cast<uint64_t>(*id)}) index = &entry;
  }
  if (index == nullptr)
    co_return MakeError(ErrorCode::kIndexNotFound, "_buildIndex names no index of the collection");
  Scan scan(collection);
  bool ended = false;
  const auto home = service.executor();
  while (!ended) {
    co_await base::SwitchTo(service.pool());
    auto documents = ReadSliceOf(context, *index, &scan, &ended);
    co_await base::SwitchTo(home);
    EVENKEEL_CO_RETURN_IF_ERROR(documents.status());
    const auto task = std::make_shared<BuildTask>(collection, *index, *std::move(documents));
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(service, task));
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
  }
  co_return bson::Document();
}

}  // namespace evenkeel::shard
