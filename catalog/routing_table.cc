// The router's cache of routes.
#include "catalog/routing_table.h"

#include <utility>

namespace evenkeel::catalog {

std::vector<ShardId> Route::Shards() const {
  if (assignment) return assignment->Owners();
  return {entry->primary};
}

std::shared_ptr<const Route> RoutingTable::Find(std::string_view ns) const {
  absl::MutexLock lock(&mutex_);
  auto found = routes_.find(ns);
  return found == routes_.end() ? nullptr : found->second;
}

void RoutingTable::Put(std::shared_ptr<const Route> route) {
  absl::MutexLock lock(&mutex_);
  std::string ns = route->entry->ns;
  routes_[std::move(ns)] = std::move(route);
}

void RoutingTable::Forget(std::string_view ns) {
  absl::MutexLock lock(&mutex_);
  if (auto found = routes_.find(ns); found != routes_.end()) routes_.erase(found);
}

void RoutingTable::Clear() {
  absl::MutexLock lock(&mutex_);
  routes_.clear();
}

}  // namespace evenkeel::catalog
