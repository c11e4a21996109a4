// validate: documents, index records and counters of one snapshot must agree.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/validate.h"
#include "base/limits.h"
#include "base/status.h"
#include "shard/command/collection_stats.h"
#include "shard/command/counters.h"
#include "shard/command/index_keys.h"
#include "shard/command/scan.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::shard {
namespace {

constexpr size_t kRecordsPerSlice = 1024;
constexpr size_t kErrorsMax = 100;  // shown; the rest is only counted

// Collects what one validation finds.
class Validation {
 public:
  // `slice` is at the state that will be checked.
  Validation(const Collection& collection, const storage::ReadSlice& slice)
      : collection_(collection), counted_(CountOwned(slice, collection.entry->id)) {
    for (const std::string& key : ForeignCounterKeys(collection)) {
      counted_foreign_[key] = slice.Counter(key);
    }
    for (const catalog::IndexEntry& index : collection.entry->indexes) {
      counted_keys_[index.name] = slice.Counter(IndexCounterKey(index.id));
    }
  }

  // Checks one document and its index records.
  void CheckDocument(const storage::ReadSlice& slice, const Found& found) {
    const bool owned = collection_.Owns(found.doc_key, found.document);
    if (owned) Count(found.document, &documents_);
    const absl::Status valid = bson::Validate({found.document.data(), found.document.SizeBytes()});
    if (!valid.ok()) return AddError("damaged document: " + std::string(MessageOf(valid)));
    const auto records = RecordsOf(*collection_.entry, found.document);
    if (!records.ok()) return AddError(std::string(MessageOf(records.status())));
    if (!owned) Count(found.document, &foreign_documents_[CounterKey(collection_, records->hash)]);
    if (records->doc_key != found.doc_key) AddError("a document lies under the key of another one");
    for (const IndexRecord& record : records->indexes) {
      const auto stored = slice.Get(storage::Table::kIndex, record.key);
      if (stored && stored->value == record.value) {
        ++expected_keys_[record.index->name];
      } else if (record.index->ready && owned) {
        AddError("index '" + record.index->name + "' lacks a record of _id " +
                 bson::ToDisplay(found.document["_id"]));
      }
    }
  }

  void CheckIndex(const catalog::IndexEntry& index, storage::Count found) {
    const int64_t keys = found.documents;
    keys_[index.name] = keys;
    if (const storage::Count counted = counted_keys_[index.name]; counted != found) {
      AddError(
          fmt::format("the counters of index '{}' say {} records of {} bytes, there are {} of {}",
                      index.name, counted.documents, counted.bytes, keys, found.bytes));
    }
    if (index.ready && keys != expected_keys_[index.name]) {
      AddError(fmt::format("index '{}' has {} records, its documents stand for {}", index.name,
                           keys, expected_keys_[index.name]));
    }
  }

  void AddError(std::string text) {
    if (errors_.size() < kErrorsMax) errors_.push_back(std::move(text));
    valid_ = false;
  }

  bson::Document Finish() {
    CheckCount("", counted_, documents_);
    for (const auto& [key, counted] : counted_foreign_) {
      CheckCount(" of other shards", counted, foreign_documents_[key]);
    }
    bson::Builder reply, keys;
    for (const catalog::IndexEntry& index : collection_.entry->indexes) {
      keys.Append(index.name,
                  HasRecords(*collection_.entry, index) ? keys_[index.name] : documents_.documents);
    }
    reply.Append("ns", collection_.entry->ns)
        .Append("nInvalidDocuments", int64_t{0})
        .Append("nrecords", documents_.documents)
        .Append("nIndexes", static_cast<int32_t>(collection_.entry->indexes.size()))
        .Append("keysPerIndex", keys.Finish())
        .Append("valid", valid_)
        .OpenArray("errors");
    bson::ArrayAppender array(reply);
    for (const std::string& error : errors_) array.Add(error);
    reply.Close().OpenArray("warnings").Close();
    return reply.Finish();
  }

 private:
  static void Count(bson::View document, storage::Count* count) {
    ++count->documents;
    count->bytes += static_cast<int64_t>(document.SizeBytes());
  }

  void CheckCount(std::string_view which, storage::Count counted, storage::Count found) {
    if (counted == found) return;
    AddError(fmt::format("the counters say {} documents{} of {} bytes, there are {} of {}",
                         counted.documents, which, counted.bytes, found.documents, found.bytes));
  }

  const Collection& collection_;
  const storage::Count counted_;
  storage::Count documents_;
  std::map<std::string, storage::Count> counted_foreign_, foreign_documents_;  // by counter
  std::map<std::string, storage::Count> counted_keys_;
  std::map<std::string, int64_t> expected_keys_, keys_;
  std::vector<std::string> errors_;
  bool valid_ = true;
};

absl::Status CheckDocuments(CommandContext& context, const Collection& collection, Timestamp at,
                            Validation* validation) {
  // Documents of other shards too: they have index records.
  Collection everything = collection;
  everything.assignment = nullptr;
  Scan scan(everything);
  while (true) {
    EVENKEEL_ASSIGN_OR_RETURN(const storage::ReadSlice slice, context.service.store().ReadAt(at));
    EVENKEEL_ASSIGN_OR_RETURN(const bool ended,
                              scan.Run(slice, kRecordsPerSlice, [&](const Found& found) {
                                validation->CheckDocument(slice, found);
                                return Scan::Visit::kContinue;
                              }));
    if (ended) return absl::OkStatus();
    EVENKEEL_RETURN_IF_ERROR(context.CheckInterrupt());
  }
}

absl::StatusOr<storage::Count> CountIndexRecords(CommandContext& context,
                                                 const catalog::IndexEntry& index, Timestamp at) {
  std::string next = storage::IndexPrefix(index.id, "");
  const std::string end = storage::IndexEnd(index.id);
  storage::Count count;
  while (true) {
    EVENKEEL_ASSIGN_OR_RETURN(const storage::ReadSlice slice, context.service.store().ReadAt(at));
    auto cursor = slice.NewCursor(storage::Table::kIndex);
    size_t in_slice = 0;
    for (cursor->Seek(next, end); cursor->Valid(); cursor->Next()) {
      if (++in_slice > kRecordsPerSlice) break;
      ++count.documents;
      count.bytes += static_cast<int64_t>(cursor->key().size() + cursor->record().value.size());
    }
    if (!cursor->Valid()) return count;
    next = std::string(cursor->key());
    EVENKEEL_RETURN_IF_ERROR(context.CheckInterrupt());
  }
}

absl::StatusOr<bson::Document> Validate(CommandContext& context,
                                        const wire::ShardEnvelope& envelope) {
  Collection collection;
  std::optional<Validation> validation;
  Timestamp at;
  {
    const storage::ReadSlice slice = context.service.store().Read();
    EVENKEEL_ASSIGN_OR_RETURN(collection, OpenCollection(slice, envelope));
    validation.emplace(collection, slice);
    at = slice.timestamp();
  }
  EVENKEEL_ASSIGN_OR_RETURN(const auto snapshot, context.service.store().OpenSnapshot(at));
  EVENKEEL_RETURN_IF_ERROR(CheckDocuments(context, collection, at, &*validation));
  for (const catalog::IndexEntry& index : collection.entry->indexes) {
    if (!HasRecords(*collection.entry, index)) continue;
    EVENKEEL_ASSIGN_OR_RETURN(const storage::Count found, CountIndexRecords(context, index, at));
    validation->CheckIndex(index, found);
  }
  const CollectionId id = collection.entry->id;
  EVENKEEL_ASSIGN_OR_RETURN(
      const storage::DocCheck stored,
      context.service.store().CheckDocs(storage::DocPrefix(id), storage::DocPrefixEnd(id)));
  for (size_t i = 0; i < stored.damaged_keys.size(); ++i) {
    validation->AddError("a stored document does not match its checksum");
  }
  return validation->Finish();
}

}  // namespace

Awaitable<CommandResult> ValidateCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  const auto home = context.service.executor();
  co_await base::SwitchTo(context.service.pool());
  CommandResult result = Validate(context, envelope);
  co_await base::SwitchTo(home);
  co_return result;
}

}  // namespace evenkeel::shard
