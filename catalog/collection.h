// One collection or view: the entry of config.catalog, which is also the row that its shards keep
// in meta.
//
// Immutable once made; a change makes a new entry with the next version.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/compare.h"
#include "base/bson/document.h"
#include "base/bson/path.h"
#include "base/types.h"
#include "catalog/shard_key.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"

namespace evenkeel::catalog {

struct IndexField {
  bson::Path path;
  storage::Direction direction = storage::Direction::kAscending;
  bool hashed = false;
};

// One index. The `_id_` index of an unsharded collection is the docs table itself (is_docs_order).
struct IndexEntry {
  IndexId id;
  std::string name;
  bson::Document spec;  // as listIndexes shows it: v, key, name, unique, …
  std::vector<IndexField> fields;
  bool unique = false, sparse = false;
  const bson::StringComparator* collation = nullptr;  // of its strings; null: bytes
  bool ready = true;  // false while it is being built: writers keep it, readers do not use it

  // Errors: MongoDB's for a bad spec: CannotCreateIndex 67, BadValue 2,
  // InvalidIndexSpecificationOption 197 …
  static absl::StatusOr<IndexEntry> FromSpec(IndexId id, bson::View spec);
  bool IsIdIndex() const { return name == "_id_"; }
};

// Where a job copies documents of a collection to: its shards note what changes.
struct CopyTarget {
  // The new incarnation; of a move within the collection an id of its own. Notes lie under it.
  CollectionId id;
  std::optional<ShardKeyPattern> shard_key;  // nothing: unsharded
  // Of a move within the collection: the ranges that it will have. Documents stay under their keys,
  // those whose range gets another owner are copied there. Empty: a new incarnation.
  std::string assignment;
};

enum class CollectionKind : uint8_t { kCollection, kView };

struct CollectionEntry {
  CollectionId id;
  CatalogVersion version{1};
  CollectionKind kind = CollectionKind::kCollection;
  std::string ns;          // "db.name"
  std::string uuid;        // 16 bytes
  bson::Document options;  // as listCollections shows them: capped, size, validator, collation,
                           // viewOn, pipeline, …
  std::optional<ShardKeyPattern> shard_key;  // nothing: unsharded
  bool shard_key_unique = false;
  std::string assignment;           // name of the ranges, for sharded ones
  ShardId primary;                  // where an unsharded one lives
  std::vector<IndexEntry> indexes;  // `_id_` first
  bool writes_closed = false;       // while a job ends its copy of it
  std::optional<CopyTarget> copied_to;
  // Another incarnation has its name: kept for reads that were begun before.
  bool retired = false;
  std::string job;  // the DDL job that holds it, or empty

  std::string_view database() const;
  std::string_view name() const;
  bool sharded() const { return shard_key.has_value(); }
  // True while ranges of it are being moved.
  bool moves_ranges() const { return copied_to && !copied_to->assignment.empty(); }
  const IndexEntry* FindIndex(std::string_view index_name) const;
  // The rules by which strings of `_id` are told apart; null: bytes.
  const bson::StringComparator* id_collation() const {
    return indexes.empty() ? nullptr : indexes.front().collation;
  }
  // How documents of a sharded collection are placed. By bucket only where equal `_id`s have equal
  // hashes: a collation makes others equal too.
  storage::PlacedBy placed_by() const { return PlacedByFor(*shard_key); }
  // The lowest place for unsharded ones. Errors: as ShardKeyPattern::PlacementOf.
  absl::StatusOr<Placement> PlacementOf(bson::View document) const;
  // Where the document belongs in the copy: `key` is its whole document key there. Requires
  // copied_to. Errors: as PlacementOf.
  absl::StatusOr<Placement> PlaceInCopy(bson::View document) const;
  // True where `_id` alone tells the document key: unsharded, or sharded by `_id`.
  bool IsKeyedById() const { return !sharded() || shard_key->IsById(); }
  // That key. Requires IsKeyedById.
  std::string DocKeyOfId(bson::Value id) const;

  static absl::StatusOr<CollectionEntry> FromBson(bson::View document);
  bson::Document ToBson() const;  // `_id` is the namespace

 private:
  storage::PlacedBy PlacedByFor(const ShardKeyPattern& key) const {
    return key.IsById() && id_collation() == nullptr ? storage::PlacedBy::kBucket
                                                     : storage::PlacedBy::kHash;
  }
};

// "db.coll" split. Errors: InvalidNamespace (73), as MongoDB checks names.
struct Namespace {
  std::string_view database, collection;
};
Namespace SplitNamespace(std::string_view ns);
absl::Status CheckCollectionName(std::string_view database, std::string_view collection);
absl::Status CheckDatabaseName(std::string_view database);

}  // namespace evenkeel::catalog
