// Checks uniqueness and puts documents with their index records.
#include "shard/command/document_write.h"

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "storage/keys/key_encoding.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::shard {
namespace {

// {field: value, …} of the indexed fields, for the message of a duplicate key.
bson::Document KeyValueOf(const catalog::IndexEntry& index, bson::View document) {
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

}  // namespace

absl::Status DuplicateOf(const Collection& collection, const catalog::IndexEntry& index,
                         bson::View document) {
  return wire::DuplicateKeyError(collection.entry->ns, index.name, index.spec["key"].AsDocument(),
                                 KeyValueOf(index, document));
}

namespace {

// The `_id` index of a collection sharded by `_id` needs no check of its own: equal values have
// equal document keys.
bool NeedsUniqueCheck(const Collection& collection, const catalog::IndexEntry& index) {
  if (!index.unique) return false;
  return !(index.IsIdIndex() && collection.entry->sharded() &&
           collection.entry->shard_key->IsById());
}

}  // namespace

bool IsTaken(storage::WriteContext& context, const Collection& collection,
             const IndexRecord& record, std::string_view replaced) {
  const std::string_view prefix = std::string_view(record.key).substr(0, record.prefix_bytes);
  auto cursor = context.NewCursor(storage::Table::kIndex);
  for (cursor->Seek(prefix); cursor->Valid() && cursor->key().starts_with(prefix); cursor->Next()) {
    const std::string holder =
        storage::DocKeyOfIndexRecord(collection.entry->id, cursor->key(), cursor->record().value);
    if (holder != replaced) return true;
  }
  return false;
}

namespace {

absl::Status CheckUnique(storage::WriteContext& context, const Collection& collection,
                         const PreparedDocument& added, std::string_view replaced) {
  for (const IndexRecord& record : added.records.indexes) {
    if (NeedsUniqueCheck(collection, *record.index) &&
        IsTaken(context, collection, record, replaced)) {
      return DuplicateOf(collection, *record.index, added.document);
    }
  }
  return absl::OkStatus();
}

}  // namespace

void MarkMultikey(storage::WriteContext& context, IndexId index) {
  const auto& catalog = static_cast<const catalog::ShardCatalog&>(*context.state());
  if (catalog.IsMultikey(index)) return;
  context.Put(storage::Table::kMeta, catalog::MetaMultikeyKey(index), "1");
  context.SetState(catalog.WithMultikey(index));
}

void PutIndexRecord(storage::WriteContext& context, const IndexRecord& record) {
  context.Put(storage::Table::kIndex, record.key, record.value);
  context.AddToCounter(IndexCounterKey(record.index->id),
                       {1, static_cast<int64_t>(record.key.size() + record.value.size())});
}

namespace {

void AddToCounter(storage::WriteContext& context, const Collection& collection,
                  std::string_view placement_key, int64_t documents, int64_t bytes) {
  context.AddToCounter(CounterKey(*collection.entry, collection.assignment.get(), placement_key),
                       {documents, bytes});
}

void RemoveIndexRecord(storage::WriteContext& context, const IndexRecord& record) {
  context.Remove(storage::Table::kIndex, record.key);
  context.AddToCounter(IndexCounterKey(record.index->id),
                       {-1, -static_cast<int64_t>(record.key.size() + record.value.size())});
}

}  // namespace

absl::Status CheckUnchanged(storage::WriteContext& context, const Collection& seen) {
  const auto& catalog = static_cast<const catalog::ShardCatalog&>(*context.state());
  const auto now = catalog.Find(seen.entry->id);
  if (now == nullptr || now->version != seen.entry->version || now->writes_closed) {
    return Error(ErrorCode::kStaleConfig, "collection {} has changed on shard{}", seen.entry->ns,
                 seen.shard.value);
  }
  return absl::OkStatus();
}

absl::Status InstallInsert(storage::WriteContext& context, const Collection& collection,
                           const PreparedDocument& added) {
  const DocumentRecords& records = added.records;
  if (context.Get(storage::Table::kDocs, records.doc_key)) {
    return DuplicateOf(collection, collection.entry->indexes.front(), added.document);
  }
  EVENKEEL_RETURN_IF_ERROR(CheckUnique(context, collection, added, {}));
  context.Put(storage::Table::kDocs, records.doc_key, added.document.Bytes());
  for (const IndexRecord& record : records.indexes)
    context.Put(storage::Table::kIndex, record.key, record.value);
  AddToCounter(context, collection, records.placement_key, 1,
               static_cast<int64_t>(added.document.SizeBytes()));
  for (const IndexId id : records.multikey) MarkMultikey(context, id);
  return absl::OkStatus();
}

absl::Status InstallReplace(storage::WriteContext& context, const Collection& collection,
                            const PreparedDocument& old, const PreparedDocument& added) {
  const bool moved = old.records.doc_key != added.records.doc_key;
  if (moved && context.Get(storage::Table::kDocs, added.records.doc_key)) {
    return DuplicateOf(collection, collection.entry->indexes.front(), added.document);
  }
  EVENKEEL_RETURN_IF_ERROR(CheckUnique(context, collection, added, old.records.doc_key));
  if (moved) context.Remove(storage::Table::kDocs, old.records.doc_key);
  context.Put(storage::Table::kDocs, added.records.doc_key, added.document.Bytes());
  // Both lists are in key order: walk them side by side.
  auto gone = old.records.indexes.begin();
  auto come = added.records.indexes.begin();
  while (gone != old.records.indexes.end() || come != added.records.indexes.end()) {
    if (come == added.records.indexes.end() ||
        (gone != old.records.indexes.end() && gone->key < come->key)) {
      context.Remove(storage::Table::kIndex, gone->key);
      ++gone;
    } else {
      const bool same = gone != old.records.indexes.end() && gone->key == come->key;
      if (!same || gone->value != come->value)
        context.Put(storage::Table::kIndex, come->key, come->value);
      if (same) ++gone;
      ++come;
    }
  }
  const auto old_bytes = static_cast<int64_t>(old.document.SizeBytes());
  const auto new_bytes = static_cast<int64_t>(added.document.SizeBytes());
  if (moved) {
    AddToCounter(context, collection, old.records.placement_key, -1, -old_bytes);
    AddToCounter(context, collection, added.records.placement_key, 1, new_bytes);
  } else if (old_bytes != new_bytes) {
    AddToCounter(context, collection, added.records.placement_key, 0, new_bytes - old_bytes);
  }
  for (const IndexId id : added.records.multikey) MarkMultikey(context, id);
  return absl::OkStatus();
}

void InstallRemove(storage::WriteContext& context, const Collection& collection,
                   const PreparedDocument& old) {
  context.Remove(storage::Table::kDocs, old.records.doc_key);
  for (const IndexRecord& record : old.records.indexes)
    context.Remove(storage::Table::kIndex, record.key);
  AddToCounter(context, collection, old.records.placement_key, -1,
               -static_cast<int64_t>(old.document.SizeBytes()));
}

}  // namespace evenkeel::shard
