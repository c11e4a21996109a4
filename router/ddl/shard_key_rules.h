// What a shard key asks of the indexes of its collection.
#pragma once

#include <absl/status/status.h>

#include "catalog/collection.h"

namespace evenkeel::router::ddl {

// True when the shards, each by itself, keep the index unique over all of them: equal values lie on
// one shard. Those of a collation may be equal and lie on two, as with MongoDB. `_id_` is not
// asked. Source: "Unique Indexes" on the manual's pages of sharded collections.
bool IsUniqueOnShards(const catalog::IndexEntry& index, const catalog::ShardKeyPattern& key);

// For indexes of a collection that is to get a shard key. Errors: InvalidOptions (72) for a unique
// index that would not stay unique.
absl::Status CheckUniqueIndexes(const catalog::CollectionEntry& entry);
// For a new index. Errors: CannotCreateIndex (67) for a unique one that would not be.
absl::Status CheckNewIndex(const catalog::CollectionEntry& entry, const catalog::IndexEntry& index);

}  // namespace evenkeel::router::ddl
