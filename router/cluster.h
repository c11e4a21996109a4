// The shards of the cluster and its catalog, as one router reaches them.
//
// Invariants: (1) every routed request carries the version of the route it was made from; (2)
// StaleConfig leads to a refresh and a bounded number of new tries, nowhere else (router/retry.h).
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/cancellation.h"
#include "base/clock.h"
#include "catalog/routing_table.h"
#include "router/command.h"
#include "wire/net/channel.h"

namespace evenkeel::router {

// A request to one shard. `message.body` has the `$shard` field.
struct ShardCall {
  ShardId shard;
  wire::Message message;
};

class Cluster {
 public:
  // One channel per shard, in the order of their ids.
  explicit Cluster(std::vector<std::unique_ptr<wire::ShardChannel>> channels);

  size_t shard_count() const { return channels_.size(); }
  std::vector<ShardId> AllShards() const;
  static std::string ShardName(ShardId shard);  // "shard0"
  std::optional<ShardId> FindShard(std::string_view name) const;

  // The shard's reply as it came: its body is a view into bytes that the message keeps alive.
  // Errors: what the reply carries, and those of the channel.
  Awaitable<absl::StatusOr<wire::Message>> Send(ShardCall call, CallScope scope);
  // All at once; results in the order of the calls.
  Awaitable<std::vector<absl::StatusOr<wire::Message>>> SendAll(std::vector<ShardCall> calls,
                                                                CallScope scope);
  // The reply document's body, or the error that it carries.
  Awaitable<absl::StatusOr<bson::Document>> Call(ShardCall call, absl::Time deadline,
                                                 base::CancellationToken cancelled);
  // A command without sequences.
  Awaitable<absl::StatusOr<bson::Document>> Call(ShardId shard, bson::Document body,
                                                 absl::Time deadline,
                                                 base::CancellationToken cancelled);
  // All at once; results in the order of the calls.
  Awaitable<std::vector<absl::StatusOr<bson::Document>>> CallAll(std::vector<ShardCall> calls,
                                                                 absl::Time deadline,
                                                                 base::CancellationToken cancelled);

  // The route of a collection or view, from the table or from shard 0. Null: no such collection.
  Awaitable<absl::StatusOr<std::shared_ptr<const catalog::Route>>> Lookup(
      std::string_view ns, absl::Time deadline, base::CancellationToken cancelled);
  // The next Lookup asks shard 0.
  void Forget(std::string_view ns) { routes_.Forget(ns); }
  catalog::RoutingTable& routes() { return routes_; }
  // Operation times in shards' replies move this clock.
  void ObserveWith(base::HybridClock* clock) { clock_ = clock; }

 private:
  Awaitable<absl::StatusOr<bson::Document>> FindConfig(std::string_view collection,
                                                       std::string_view id, CallScope scope);

  std::vector<std::unique_ptr<wire::ShardChannel>> channels_;
  catalog::RoutingTable routes_;
  base::HybridClock* clock_ = nullptr;
};

}  // namespace evenkeel::router
