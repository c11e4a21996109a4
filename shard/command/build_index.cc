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
constexpr size_t kBytesPerSlice = 4u << 20;  // documents and their records

// The records of one document as it was read.
struct ReadDocument {
  std::string doc_key;
  Timestamp version;
  bson::Document document;
  std::vector<IndexRecord> records;
  bool multikey = false, long_keys = false;
  absl::Status status;  // why it has no records

  size_t Bytes() const {
    size_t bytes = document.SizeBytes() + doc_key.size();
    for (const IndexRecord& record : records) bytes += record.key.size() + record.value.size() + 64;
    return bytes;
  }
};

ReadDocument Read(const catalog::IndexEntry& index, const Found& found) {
  ReadDocument out;
  out.doc_key = std::string(found.doc_key);
  out.version = found.version;
  out.document = bson::Document(found.document);
  out.status =
      AppendIndexRecords(index, out.document.view(), out.doc_key, &out.records, &out.multikey);
  for (const IndexRecord& record : out.records) out.long_keys |= record.long_key;
  return out;
}

// Adds the records of one slice. A document that has changed since keeps the index itself: the
// writer does so for every write after the job's first step.
class BuildTask final : public WriteTask {
 public:
  BuildTask(const Collection& collection, const catalog::IndexEntry& index)
      : collection_(collection), index_(index) {}

  void Add(ReadDocument document) {
    bytes_ += document.Bytes();
    documents_.push_back(std::move(document));
  }
  bool IsFull() const { return bytes_ >= kBytesPerSlice; }

  void Execute(storage::WriteContext& context) override {
    status = CheckUnchanged(context, collection_);
    for (size_t i = 0; i < documents_.size() && status.ok(); ++i) {
      status = Index(context, documents_[i]);
    }
  }
  size_t SizeBytes() const override { return bytes_; }
  bool IsPatient() const override { return true; }
  absl::Status status;

 private:
  absl::Status Index(storage::WriteContext& context, const ReadDocument& document) {
    // An open transaction that has written the document, or one of its values, knows nothing of the
    // records that the build adds.
    EVENKEEL_RETURN_IF_ERROR(
        ClaimDocument(context, collection_, document.doc_key, document.records));
    const auto stored = context.Get(storage::Table::kDocs, document.doc_key);
    if (!stored || stored->commit_timestamp != document.version) return absl::OkStatus();
    EVENKEEL_RETURN_IF_ERROR(document.status);
    for (const IndexRecord& record : document.records) {
      if (index_.unique) {
        EVENKEEL_RETURN_IF_ERROR(CheckNotTaken(context, collection_, record,
                                               document.document.view(), document.doc_key,
                                               document.doc_key));
      }
      PutIndexRecord(context, record);
    }
    if (document.multikey) MarkIndexes(context, {index_.id}, {});
    if (document.long_keys) MarkIndexes(context, {}, {index_.id});
    return absl::OkStatus();
  }

  const Collection& collection_;
  const catalog::IndexEntry& index_;
  std::vector<ReadDocument> documents_;
  size_t bytes_ = 1024;
};

}  // namespace

Awaitable<CommandResult> BuildIndexCommand(CommandContext& context) {
  ShardService& service = context.service;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*service.catalog(), envelope));
  const auto id = bson::ToInt64Exact(context.body()["index"]);
  const catalog::IndexEntry* index = nullptr;
  for (const catalog::IndexEntry& entry : collection.entry->indexes) {
    if (id && entry.id == IndexId{static_cast<uint64_t>(*id)}) index = &entry;
  }
  if (index == nullptr)
    co_return MakeError(ErrorCode::kIndexNotFound, "_buildIndex names no index of the collection");
  Scan scan(collection);
  const auto home = service.executor();
  absl::StatusOr<bool> ended = false;
  while (!*ended) {
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    const auto task = std::make_shared<BuildTask>(collection, *index);
    co_await base::SwitchTo(service.pool());
    ended = scan.Run(service.store().Read(), kRecordsPerSlice, [&](const Found& found) {
      task->Add(Read(*index, found));
      return task->IsFull() ? Scan::Visit::kStop : Scan::Visit::kContinue;
    });
    co_await base::SwitchTo(home);
    EVENKEEL_CO_RETURN_IF_ERROR(ended.status());
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context, task));
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
    if (scan.blocked_on() != nullptr)
      EVENKEEL_CO_RETURN_IF_ERROR(co_await context.WaitFor(scan.blocked_on()));
  }
  co_return bson::Document();
}

}  // namespace evenkeel::shard
