// Sizes and counts of collections, asked of the shards and added up.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/types.h"
#include "catalog/collection.h"
#include "router/command.h"
#include "router/retry.h"

namespace evenkeel::router::stats {

// Of one collection on one shard, or of all together.
struct Figures {
  int64_t count = 0, size_bytes = 0, storage_bytes = 0, index_bytes = 0;
  std::map<std::string, int64_t> index_sizes;
  int64_t orphans = 0, orphan_bytes = 0;  // of the shards that own something of it

  void Add(const Figures& other);
};

struct ShardFigures {
  ShardId shard;
  Figures figures;
};

// What each shard of the collection says, in the order of shards. Errors: StaleConfig and the
// shards'.
Awaitable<absl::StatusOr<std::vector<ShardFigures>>> AskShards(CommandContext& context,
                                                               RoutePtr route);
// The same with retries. Empty when the collection does not exist any more, and for views.
Awaitable<absl::StatusOr<std::vector<ShardFigures>>> FiguresOf(CommandContext& context,
                                                               std::string ns);

Figures Sum(const std::vector<ShardFigures>& parts);

// The entries of config.catalog of one database, or of all when it is empty; of `config` itself the
// fixed ones.
Awaitable<absl::StatusOr<std::vector<catalog::CollectionEntry>>> EntriesOf(
    CommandContext& context, std::string_view database);

// Appends count, size, avgObjSize, storageSize, totalIndexSize, totalSize, indexSizes, nindexes,
// scaleFactor as MongoDB shows them.
void AppendFigures(bson::Builder& reply, const Figures& figures, int64_t scale);

// The command's `scale`. Errors: BadValue below 1, TypeMismatch.
absl::StatusOr<int64_t> ScaleOf(bson::Value scale);

}  // namespace evenkeel::router::stats
