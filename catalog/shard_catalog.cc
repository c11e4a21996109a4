// Loads a shard's rows of meta and makes changed copies of the catalog.
#include "catalog/shard_catalog.h"

#include <utility>

#include "base/bson/view.h"
#include "base/status.h"
#include "catalog/config_collections.h"

namespace evenkeel::catalog {
namespace {

constexpr std::string_view kCollectionPrefix = "collection/";
constexpr std::string_view kAssignmentPrefix = "assignment/";
constexpr std::string_view kMultikeyPrefix = "multikey/";
constexpr std::string_view kLongKeysPrefix = "longkeys/";
constexpr std::string_view kDroppedPrefix = "dropped/";

std::string BigEndian(uint64_t value) {
  const uint64_t bits = __builtin_bswap64(value);
  return std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

// The ids behind `prefix` in the keys of meta.
void LoadIndexIds(storage::Cursor& cursor, std::string_view prefix,
                  absl::flat_hash_set<IndexId>* out) {
  for (cursor.SeekPrefix(prefix); cursor.Valid(); cursor.Next()) {
    const uint64_t bits = bson::LoadLittle<uint64_t>(cursor.key().data() + prefix.size());
    out->insert(IndexId{__builtin_bswap64(bits)});
  }
}

}  // namespace

std::string MetaCollectionKey(CollectionId id) {
  return std::string(kCollectionPrefix) + BigEndian(id.value);
}

std::string MetaMultikeyKey(IndexId id) {
  return std::string(kMultikeyPrefix) + BigEndian(id.value);
}

std::string MetaLongKeysKey(IndexId id) {
  return std::string(kLongKeysPrefix) + BigEndian(id.value);
}

std::string MetaDroppedKey(CollectionId id) {
  return std::string(kDroppedPrefix) + BigEndian(id.value);
}

std::string MetaAssignmentKey(std::string_view name) {
  return std::string(kAssignmentPrefix) + std::string(name);
}

absl::StatusOr<std::shared_ptr<const ShardCatalog>> ShardCatalog::Load(
    const storage::ReadSlice& slice) {
  auto out = std::make_shared<ShardCatalog>();
  if (auto row = slice.Get(storage::Table::kMeta, kMetaIdentityKey)) {
    const bson::View identity(row->value.data());
    const bson::Value cluster = identity["clusterId"], shard = identity["shard"];
    if (!cluster.Is(bson::Type::kObjectId) || !shard.Is(bson::Type::kInt32)) {
      return MakeError(ErrorCode::kInvalidBSON, "damaged identity of the shard");
    }
    out->cluster_id_ = std::string(cluster.AsObjectId());
    out->shard_ = ShardId{static_cast<uint32_t>(shard.AsInt32())};
    if (out->shard_ == ShardId{0}) {
      for (const auto& entry : ConfigCollections()) out->collections_[entry->id] = entry;
    }
  }
  auto cursor = slice.NewCursor(storage::Table::kMeta);
  for (cursor->SeekPrefix(kAssignmentPrefix); cursor->Valid(); cursor->Next()) {
    EVENKEEL_ASSIGN_OR_RETURN(Assignment assignment,
                              Assignment::FromBson(bson::View(cursor->record().value.data())));
    std::string name = assignment.name();
    out->assignments_[std::move(name)] = std::make_shared<const Assignment>(std::move(assignment));
  }
  for (cursor->SeekPrefix(kCollectionPrefix); cursor->Valid(); cursor->Next()) {
    EVENKEEL_ASSIGN_OR_RETURN(CollectionEntry entry,
                              CollectionEntry::FromBson(bson::View(cursor->record().value.data())));
    const CollectionId id = entry.id;
    out->collections_[id] = std::make_shared<const CollectionEntry>(std::move(entry));
  }
  LoadIndexIds(*cursor, kMultikeyPrefix, &out->multikey_);
  LoadIndexIds(*cursor, kLongKeysPrefix, &out->long_keys_);
  return out;
}

std::shared_ptr<const CollectionEntry> ShardCatalog::Find(CollectionId id) const {
  auto found = collections_.find(id);
  return found == collections_.end() ? nullptr : found->second;
}

std::shared_ptr<const Assignment> ShardCatalog::FindAssignment(std::string_view name) const {
  auto found = assignments_.find(std::string(name));
  return found == assignments_.end() ? nullptr : found->second;
}

std::shared_ptr<const ShardCatalog> ShardCatalog::With(
    std::shared_ptr<const CollectionEntry> entry) const {
  auto out = std::make_shared<ShardCatalog>(*this);
  const CollectionId id = entry->id;
  out->collections_[id] = std::move(entry);
  return out;
}

std::shared_ptr<const ShardCatalog> ShardCatalog::Without(CollectionId id) const {
  auto out = std::make_shared<ShardCatalog>(*this);
  if (const auto entry = Find(id)) {
    for (const IndexEntry& index : entry->indexes) {
      out->multikey_.erase(index.id);
      out->long_keys_.erase(index.id);
    }
  }
  out->collections_.erase(id);
  out->cleaned_.erase(id);
  return out;
}

CatalogVersion ShardCatalog::CleanedSince(CollectionId id) const {
  const auto found = cleaned_.find(id);
  return found == cleaned_.end() ? CatalogVersion{0} : found->second;
}

std::shared_ptr<const ShardCatalog> ShardCatalog::WithCleaned(CollectionId id,
                                                              CatalogVersion since) const {
  auto out = std::make_shared<ShardCatalog>(*this);
  out->cleaned_[id] = since;
  return out;
}

std::shared_ptr<const ShardCatalog> ShardCatalog::With(
    std::shared_ptr<const Assignment> assignment) const {
  auto out = std::make_shared<ShardCatalog>(*this);
  std::string name = assignment->name();
  out->assignments_[std::move(name)] = std::move(assignment);
  return out;
}

std::shared_ptr<const ShardCatalog> ShardCatalog::WithMultikey(IndexId id) const {
  auto out = std::make_shared<ShardCatalog>(*this);
  out->multikey_.insert(id);
  return out;
}

std::shared_ptr<const ShardCatalog> ShardCatalog::WithLongKeys(IndexId id) const {
  auto out = std::make_shared<ShardCatalog>(*this);
  out->long_keys_.insert(id);
  return out;
}

std::shared_ptr<const ShardCatalog> ShardCatalog::WithoutIndex(IndexId id) const {
  auto out = std::make_shared<ShardCatalog>(*this);
  out->multikey_.erase(id);
  out->long_keys_.erase(id);
  return out;
}

std::shared_ptr<const ShardCatalog> ShardCatalog::WithIdentity(std::string cluster_id,
                                                               ShardId shard) const {
  auto out = std::make_shared<ShardCatalog>(*this);
  out->cluster_id_ = std::move(cluster_id);
  out->shard_ = shard;
  if (shard == ShardId{0}) {
    for (const auto& entry : ConfigCollections()) out->collections_[entry->id] = entry;
  }
  return out;
}

}  // namespace evenkeel::catalog
