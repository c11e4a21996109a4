// Checks uniqueness, puts documents with their index records, keeps the counters.
#include "shard/command/document_write.h"

#include <span>
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "shard/command/changes.h"
#include "shard/command/counters.h"
#include "shard/command/index_values.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::shard {
namespace {

// {field: value, …} of the indexed fields as the document has them.
bson::Document FieldsOf(const catalog::IndexEntry& index, bson::View document) {
  bson::Builder out;
  for (const catalog::IndexField& field : index.fields) {
    const bson::Value value = bson::LookupPlain(document, field.path);
    if (value.missing()) {
      out.AppendNull(field.path.dotted());
    } else {
      out.Append(field.path.dotted(), value);
    }
  }
  return out.Finish();
}

// The same of the tuple of values whose record is `key`: of an array the element that collides.
bson::Document TupleOf(const catalog::IndexEntry& index, bson::View document,
                       std::string_view doc_key, std::string_view key) {
  const auto tuples = IndexValuesOf(index, document);
  const size_t count = index.fields.size();
  for (size_t at = 0; tuples.ok() && at < tuples->values.size(); at += count) {
    const std::span<const bson::Value> tuple(tuples->values.data() + at, count);
    if (KeyOfTuple(index, tuple, doc_key) != key) continue;
    bson::Builder out;
    for (size_t f = 0; f < count; ++f) {
      if (tuple[f].missing()) {
        out.AppendNull(index.fields[f].path.dotted());
      } else {
        out.Append(index.fields[f].path.dotted(), tuple[f]);
      }
    }
    return out.Finish();
  }
  return FieldsOf(index, document);
}

absl::Status Duplicate(const Collection& collection, const catalog::IndexEntry& index,
                       bson::View key_value) {
  return wire::DuplicateKeyError(collection.entry->ns, index.name, index.spec["key"].AsDocument(),
                                 key_value);
}

// The `_id` index of a collection sharded by `_id` needs no check of its own: equal values have
// equal document keys.
bool NeedsUniqueCheck(const Collection& collection, const catalog::IndexEntry& index) {
  if (!index.unique) return false;
  return !(index.IsIdIndex() && collection.entry->sharded() &&
           collection.entry->shard_key->IsById());
}

// By the key alone: collections in which documents of several shards share a bucket are sharded by
// `_id` and have no unique index of their own.
bool OwnsKey(const Collection& collection, std::string_view doc_key) {
  if (collection.assignment == nullptr) return true;
  const std::string_view placement = storage::WithoutCollection(doc_key);
  return collection.Owns(storage::DecodeHash(placement, collection.entry->placed_by()).first);
}

// True for a document that a job is bringing here. What it brings may be older than what clients
// have done meanwhile, so that values may be taken twice for a while: noted, and looked at again
// when the job ends.
bool Arrives(const Collection& collection, std::string_view doc_key) {
  if (!collection.entry->job.empty()) return true;
  return collection.entry->moves_ranges() && !OwnsKey(collection, doc_key);
}

// Errors: DuplicateKey when another document than `replaced` has a record with the same values.
absl::Status CheckUnique(storage::WriteContext& context, const Collection& collection,
                         const PreparedDocument& added, std::string_view replaced) {
  for (const IndexRecord& record : added.records.indexes) {
    if (NeedsUniqueCheck(collection, *record.index)) {
      EVENKEEL_RETURN_IF_ERROR(CheckNotTaken(context, collection, record, added.document,
                                             added.records.doc_key, replaced));
    }
  }
  return absl::OkStatus();
}

// Claims what a change from `old` to `added` concerns; either may be empty.
absl::Status ClaimChange(storage::WriteContext& context, const Collection& collection,
                         const DocumentRecords& old, const DocumentRecords& added) {
  for (const DocumentRecords* records : {&old, &added}) {
    if (records->doc_key.empty()) continue;
    EVENKEEL_RETURN_IF_ERROR(
        ClaimDocument(context, collection, records->doc_key, records->indexes));
  }
  return absl::OkStatus();
}

absl::Status CheckIdFree(storage::WriteContext& context, const Collection& collection,
                         const PreparedDocument& added) {
  if (!context.Get(storage::Table::kDocs, added.records.doc_key)) return absl::OkStatus();
  const catalog::IndexEntry& index = collection.entry->indexes.front();
  return Duplicate(collection, index, FieldsOf(index, added.document));
}

// Puts and removes records of the index table, which come in key order, and adds up what that means
// for the indexes' counters.
class IndexChanges {
 public:
  explicit IndexChanges(storage::WriteContext& context) : context_(context) {}
  ~IndexChanges() { Flush(); }

  void Add(const IndexRecord& record) {
    Count(record, 1, BytesOf(record.key, record.value));
    context_.Put(storage::Table::kIndex, record.key, record.value);
  }
  void Remove(const IndexRecord& record) {
    Count(record, -1, -BytesOf(record.key, record.value));
    context_.Remove(storage::Table::kIndex, record.key);
  }
  // The same key with another value.
  void Change(const IndexRecord& old, const IndexRecord& record) {
    if (old.value == record.value) return;
    Count(record, 0, BytesOf("", record.value) - BytesOf("", old.value));
    context_.Put(storage::Table::kIndex, record.key, record.value);
  }
  // An index that is being built may lack records of documents that the build has not reached.
  void AddIfAbsent(const IndexRecord& record) {
    const auto stored = context_.Get(storage::Table::kIndex, record.key);
    if (!stored) return Add(record);
    Change({record.index, record.key, std::string(stored->value), record.prefix_bytes}, record);
  }
  void RemoveIfPresent(const IndexRecord& record) {
    if (context_.Get(storage::Table::kIndex, record.key)) Remove(record);
  }

 private:
  static int64_t BytesOf(std::string_view key, std::string_view value) {
    return static_cast<int64_t>(key.size() + value.size());
  }
  void Count(const IndexRecord& record, int64_t records, int64_t bytes) {
    if (index_ != record.index) Flush();
    index_ = record.index;
    change_.documents += records;
    change_.bytes += bytes;
  }
  void Flush() {
    if (index_ != nullptr && change_ != storage::Count{}) {
      context_.AddToCounter(IndexCounterKey(index_->id), change_);
    }
    change_ = {};
  }

  storage::WriteContext& context_;
  const catalog::IndexEntry* index_ = nullptr;
  storage::Count change_;
};

// may_lack  there may be no records of what goes: an index was made while the document lay here,
// but belonged to another shard.
void ReplaceRecords(storage::WriteContext& context, const std::vector<IndexRecord>& old,
                    const std::vector<IndexRecord>& added, bool may_lack = false) {
  IndexChanges changes(context);
  // Both lists are in key order: walk them side by side.
  auto gone = old.begin();
  auto come = added.begin();
  while (gone != old.end() || come != added.end()) {
    const bool only_gone = come == added.end() || (gone != old.end() && gone->key < come->key);
    const bool same = !only_gone && gone != old.end() && gone->key == come->key;
    const IndexRecord& record = only_gone ? *gone : *come;
    if (!record.index->ready || may_lack) {
      if (only_gone) {
        changes.RemoveIfPresent(record);
      } else {
        changes.AddIfAbsent(record);
      }
    } else if (only_gone) {
      changes.Remove(record);
    } else if (same) {
      changes.Change(*gone, record);
    } else {
      changes.Add(record);
    }
    if (only_gone || same) ++gone;
    if (!only_gone) ++come;
  }
}

void AddToCounter(storage::WriteContext& context, const Collection& collection, int64_t hash,
                  int64_t documents, int64_t bytes) {
  context.AddToCounter(CounterKey(collection, hash), {documents, bytes});
}

}  // namespace

absl::Status ClaimDocument(storage::WriteContext& context, const Collection& collection,
                           std::string_view doc_key, std::span<const IndexRecord> records) {
  EVENKEEL_RETURN_IF_ERROR(context.Claim(storage::Table::kDocs, doc_key));
  for (const IndexRecord& record : records) {
    if (!NeedsUniqueCheck(collection, *record.index)) continue;
    EVENKEEL_RETURN_IF_ERROR(context.Claim(
        storage::Table::kIndex, std::string_view(record.key).substr(0, record.prefix_bytes)));
  }
  return absl::OkStatus();
}

absl::Status CheckNotTaken(storage::WriteContext& context, const Collection& collection,
                           const IndexRecord& record, bson::View document, std::string_view doc_key,
                           std::string_view replaced) {
  const std::string_view prefix = std::string_view(record.key).substr(0, record.prefix_bytes);
  const bool arrives = Arrives(collection, doc_key);
  auto cursor = context.NewCursor(storage::Table::kIndex);
  for (cursor->SeekPrefix(prefix); cursor->Valid(); cursor->Next()) {
    const std::string holder =
        storage::DocKeyOfIndexRecord(collection.entry->id, cursor->key(), cursor->record().value);
    if (holder == replaced) continue;
    if (arrives || Arrives(collection, holder)) {
      NoteClash(context, *collection.entry, arrives ? doc_key : holder);
      continue;
    }
    // What is orphaned takes nothing from what belongs to this shard.
    if (!OwnsKey(collection, holder)) continue;
    return Duplicate(collection, *record.index,
                     TupleOf(*record.index, document, doc_key, record.key));
  }
  return absl::OkStatus();
}

void PutIndexRecord(storage::WriteContext& context, const IndexRecord& record) {
  IndexChanges(context).AddIfAbsent(record);
}

void MarkIndexes(storage::WriteContext& context, const std::vector<IndexId>& multikey,
                 const std::vector<IndexId>& long_keys) {
  for (const IndexId id : multikey) {
    if (CatalogOf(context).IsMultikey(id)) continue;
    context.Put(storage::Table::kMeta, catalog::MetaMultikeyKey(id), "1");
    SetCatalog(context, CatalogOf(context).WithMultikey(id));
  }
  for (const IndexId id : long_keys) {
    if (CatalogOf(context).HasLongKeys(id)) continue;
    context.Put(storage::Table::kMeta, catalog::MetaLongKeysKey(id), "1");
    SetCatalog(context, CatalogOf(context).WithLongKeys(id));
  }
}

absl::Status CheckSameVersion(storage::WriteContext& context, const Collection& seen) {
  const auto now = CatalogOf(context).Find(seen.entry->id);
  if (now == nullptr || now->version != seen.entry->version) {
    return Error(ErrorCode::kStaleConfig, "collection {} has changed on shard{}", seen.entry->ns,
                 seen.shard.value);
  }
  return absl::OkStatus();
}

absl::Status CheckUnchanged(storage::WriteContext& context, const Collection& seen) {
  EVENKEEL_RETURN_IF_ERROR(CheckSameVersion(context, seen));
  if (!seen.entry->writes_closed) return absl::OkStatus();
  return Error(ErrorCode::kStaleConfig, "collection {} is closed for writes on shard{}",
               seen.entry->ns, seen.shard.value);
}

absl::Status InstallInsert(storage::WriteContext& context, const Collection& collection,
                           const PreparedDocument& added) {
  const DocumentRecords& records = added.records;
  EVENKEEL_RETURN_IF_ERROR(ClaimChange(context, collection, {}, records));
  EVENKEEL_RETURN_IF_ERROR(CheckIdFree(context, collection, added));
  EVENKEEL_RETURN_IF_ERROR(CheckUnique(context, collection, added, {}));
  context.Put(storage::Table::kDocs, records.doc_key, added.document.Bytes());
  ReplaceRecords(context, {}, records.indexes);
  AddToCounter(context, collection, records.hash, 1,
               static_cast<int64_t>(added.document.SizeBytes()));
  MarkIndexes(context, records.multikey, records.long_keys);
  NoteChange(context, collection, added);
  return absl::OkStatus();
}

absl::Status InstallReplace(storage::WriteContext& context, const Collection& collection,
                            const PreparedDocument& old, const PreparedDocument& added) {
  EVENKEEL_RETURN_IF_ERROR(ClaimChange(context, collection, old.records, added.records));
  const bool moved = old.records.doc_key != added.records.doc_key;
  if (moved) EVENKEEL_RETURN_IF_ERROR(CheckIdFree(context, collection, added));
  EVENKEEL_RETURN_IF_ERROR(CheckUnique(context, collection, added, old.records.doc_key));
  if (moved) context.Remove(storage::Table::kDocs, old.records.doc_key);
  context.Put(storage::Table::kDocs, added.records.doc_key, added.document.Bytes());
  ReplaceRecords(context, old.records.indexes, added.records.indexes);
  const auto old_bytes = static_cast<int64_t>(old.document.SizeBytes());
  const auto new_bytes = static_cast<int64_t>(added.document.SizeBytes());
  if (moved) {
    AddToCounter(context, collection, old.records.hash, -1, -old_bytes);
    AddToCounter(context, collection, added.records.hash, 1, new_bytes);
  } else if (old_bytes != new_bytes) {
    AddToCounter(context, collection, added.records.hash, 0, new_bytes - old_bytes);
  }
  MarkIndexes(context, added.records.multikey, added.records.long_keys);
  NoteChange(context, collection, old);
  NoteChange(context, collection, added);
  return absl::OkStatus();
}

absl::Status InstallRemove(storage::WriteContext& context, const Collection& collection,
                           const PreparedDocument& old) {
  EVENKEEL_RETURN_IF_ERROR(ClaimChange(context, collection, old.records, {}));
  context.Remove(storage::Table::kDocs, old.records.doc_key);
  ReplaceRecords(context, old.records.indexes, {}, !collection.Owns(old.records.hash));
  AddToCounter(context, collection, old.records.hash, -1,
               -static_cast<int64_t>(old.document.SizeBytes()));
  NoteChange(context, collection, old);
  return absl::OkStatus();
}

}  // namespace evenkeel::shard
