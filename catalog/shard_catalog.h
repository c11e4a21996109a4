// What one shard knows of the catalog: the collections that it holds and the ranges that it owns.
// Published with the data.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <memory>
#include <string>

#include "base/types.h"
#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "storage/store.h"

namespace evenkeel::catalog {

// Immutable; a change makes a copy, which shares the entries.
class ShardCatalog final : public storage::PublishedState {
 public:
  // Reads all rows of `meta`. Errors: InvalidBSON for a damaged row.
  static absl::StatusOr<std::shared_ptr<const ShardCatalog>> Load(const storage::ReadSlice& slice);

  std::shared_ptr<const CollectionEntry> Find(CollectionId id) const;
  const absl::flat_hash_map<CollectionId, std::shared_ptr<const CollectionEntry>>& collections()
      const {
    return collections_;
  }
  std::shared_ptr<const Assignment> FindAssignment(std::string_view name) const;
  const absl::flat_hash_map<std::string, std::shared_ptr<const Assignment>>& assignments() const {
    return assignments_;
  }
  ShardId shard() const { return shard_; }
  // Orphaned documents of the collection have been removed since it had this version: what was
  // begun before may miss some. Not durable: nothing lives through a restart.
  CatalogVersion CleanedSince(CollectionId id) const;
  const std::string& cluster_id() const {
    return cluster_id_;
  }  // empty before the shard was given its identity

  // True when some document has had an array on a path of the index.
  bool IsMultikey(IndexId id) const { return multikey_.contains(id); }
  // True when some key of the index was too long to be stored whole: it does not order documents.
  bool HasLongKeys(IndexId id) const { return long_keys_.contains(id); }

  std::shared_ptr<const ShardCatalog> With(std::shared_ptr<const CollectionEntry> entry) const;
  // Without a collection and what is known of its indexes.
  std::shared_ptr<const ShardCatalog> Without(CollectionId id) const;
  std::shared_ptr<const ShardCatalog> With(std::shared_ptr<const Assignment> assignment) const;
  std::shared_ptr<const ShardCatalog> WithMultikey(IndexId id) const;
  std::shared_ptr<const ShardCatalog> WithLongKeys(IndexId id) const;
  std::shared_ptr<const ShardCatalog> WithCleaned(CollectionId id, CatalogVersion since) const;
  // Without what is known of a dropped index.
  std::shared_ptr<const ShardCatalog> WithoutIndex(IndexId id) const;
  std::shared_ptr<const ShardCatalog> WithIdentity(std::string cluster_id, ShardId shard) const;

 private:
  absl::flat_hash_map<CollectionId, std::shared_ptr<const CollectionEntry>> collections_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Assignment>> assignments_;
  absl::flat_hash_set<IndexId> multikey_, long_keys_;
  absl::flat_hash_map<CollectionId, CatalogVersion> cleaned_;
  std::string cluster_id_;
  ShardId shard_;
};

// Keys of the rows in meta.
std::string MetaCollectionKey(CollectionId id);
std::string MetaAssignmentKey(std::string_view name);
std::string MetaMultikeyKey(IndexId id);
std::string MetaLongKeysKey(IndexId id);
// Of a collection that was dropped: its id is never used again.
std::string MetaDroppedKey(CollectionId id);
inline constexpr std::string_view kMetaIdentityKey = "identity";

}  // namespace evenkeel::catalog
