// Unique indexes and shard keys.
#include "router/ddl/shard_key_rules.h"

#include "base/bson/json.h"
#include "base/status.h"

namespace evenkeel::router::ddl {

bool IsUniqueOnShards(const catalog::IndexEntry& index, const catalog::ShardKeyPattern& key) {
  if (!index.unique || index.IsIdIndex()) return true;
  if (index.fields.size() < key.fields().size()) return false;
  for (size_t i = 0; i < key.fields().size(); ++i) {
    if (index.fields[i].path.dotted() != key.fields()[i].dotted()) return false;
  }
  return true;
}

absl::Status CheckUniqueIndexes(const catalog::CollectionEntry& entry) {
  for (const catalog::IndexEntry& index : entry.indexes) {
    if (IsUniqueOnShards(index, *entry.shard_key)) continue;
    return Error(ErrorCode::kInvalidOptions,
                 "can't shard collection '{}' with unique index '{}': it does not start with the "
                 "shard key",
                 entry.ns, index.name);
  }
  return absl::OkStatus();
}

absl::Status CheckNewIndex(const catalog::CollectionEntry& entry,
                           const catalog::IndexEntry& index) {
  if (!entry.sharded() || IsUniqueOnShards(index, *entry.shard_key)) return absl::OkStatus();
  return Error(
      ErrorCode::kCannotCreateIndex, "cannot create unique index over {} with shard key pattern {}",
      bson::ToJson(index.spec["key"].AsDocument()), bson::ToJson(entry.shard_key->pattern()));
}

}  // namespace evenkeel::router::ddl
