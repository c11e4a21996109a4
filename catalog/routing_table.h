// What a router knows of the catalog: entries by name with their ranges, refreshed from shard 0.
//
// Only entries that exist are kept: an absent name is always asked for, so that what another router
// has created is seen at once.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_map.h"
#include "catalog/assignment.h"
#include "catalog/collection.h"

namespace evenkeel::catalog {

// Everything needed to route requests for one collection; immutable.
struct Route {
  std::shared_ptr<const CollectionEntry> entry;
  std::shared_ptr<const Assignment> assignment;  // null for unsharded ones
  // All shards that hold part of it, ascending.
  std::vector<ShardId> Shards() const;
};

class RoutingTable {
 public:
  std::shared_ptr<const Route> Find(std::string_view ns) const;
  void Put(std::shared_ptr<const Route> route);
  void Forget(std::string_view ns);
  void Clear();

 private:
  mutable absl::Mutex mutex_;
  base::StringMap<std::shared_ptr<const Route>> routes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::catalog
