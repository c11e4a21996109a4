// All that checkMetadataConsistency compares: config.* and the rows of every shard.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bson/document.h"
#include "base/hash_map.h"
#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "router/command.h"

namespace evenkeel::router::local {

// A collection as one shard knows it.
struct ShardRows {
  std::map<uint64_t, catalog::CollectionEntry> collections;  // by id
  std::vector<bson::Document> assignments;
};

struct MetadataSnapshot {
  std::vector<catalog::CollectionEntry> catalog;
  std::map<std::string, bson::Document, std::less<>> collections;  // by namespace
  std::vector<bson::Document> chunks;                              // in no order
  std::set<std::string, std::less<>> databases;
  std::map<std::string, catalog::Assignment, std::less<>> assignments;
  std::map<uint32_t, ShardRows> shards;  // by number
  // Namespaces and databases that jobs were changing: they are left out.
  std::set<std::string, std::less<>> busy;

  bool IsBusy(std::string_view ns) const;
  bool HasShard(std::string_view name) const;
};

// Errors: of the shards: all of them have to answer.
Awaitable<absl::StatusOr<MetadataSnapshot>> ReadMetadata(RouterState& router, CallScope scope);

}  // namespace evenkeel::router::local
