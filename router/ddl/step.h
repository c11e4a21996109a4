// One step of a DDL job. Done again it changes nothing.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "base/bson/document.h"
#include "base/types.h"
#include "catalog/assignment.h"
#include "catalog/collection.h"

namespace evenkeel::router::ddl {

struct Step {
  enum class Kind : uint8_t {
    kApply,    // rows on one shard: `put`, `drop`
    kCommit,   // a batch over config.*: `writes`
    kBuild,    // an index of `entry` is built on one shard: `index`
    kCopy,     // the entries are [from, into] here and below: all documents, while clients write
    kCatchUp,  // what has changed since
    kFinish,   // the same to the end, of a collection that is closed for writes
    kClean,    // orphaned documents of `entry` on one shard are removed
    kHold,     // writes of many documents of `entry` on one shard end, new ones wait
  };
  Kind kind = Kind::kApply;
  ShardId shard;
  std::vector<catalog::CollectionEntry> entries;  // kApply: put
  std::vector<catalog::Assignment> assignments;   // kApply: put before
  std::vector<CollectionId> drop;
  bson::Document writes;  // kCommit: an array, see CatalogBatch
  IndexId index;          // kBuild

  static Step Apply(ShardId shard, std::vector<catalog::CollectionEntry> put,
                    std::vector<CollectionId> drop = {});
  // kBuild, kClean or kHold.
  static Step On(Kind kind, ShardId shard, catalog::CollectionEntry entry);
  static Step Commit(bson::Document writes);
  static Step Build(ShardId shard, catalog::CollectionEntry entry, IndexId index);
  // kCopy, kCatchUp or kFinish.
  static Step Copying(Kind kind, catalog::CollectionEntry from, catalog::CollectionEntry into);
  bson::Document ToBson() const;
  static absl::StatusOr<Step> FromBson(bson::View document);
};

}  // namespace evenkeel::router::ddl
