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
#include "router/members/membership.h"

namespace evenkeel::router {

// A request to one shard. `message.body` has the `$shard` field.
struct ShardCall {
  ShardId shard;
  wire::Message message;
};

class Cluster {
 public:
  // The members as far as they are known before config.shards is read; shard0 is one of them.
  explicit Cluster(std::vector<ShardMember> members, OpenChannel open = {});

  size_t shard_count() const { return members_.Get()->size(); }
  std::vector<ShardId> AllShards() const;  // ascending
  std::shared_ptr<const Membership::Members> members() const { return members_.Get(); }
  static std::string ShardName(ShardId shard) { return router::ShardName(shard); }
  // A member as this router knows them.
  std::optional<ShardId> FindShard(std::string_view name) const;
  // The same, but the catalog is asked before it says no. Errors: ShardNotFound.
  Awaitable<absl::StatusOr<ShardId>> ResolveShard(std::string name, CallScope scope);

  // The rows of config.shards, those that can be used. None before the catalog is made.
  Awaitable<absl::StatusOr<std::vector<ShardRow>>> ReadMembers(CallScope scope);
  // Makes config.shards what this router goes by; to be called every few seconds. A call to a shard
  // that is not known does it, too. Errors: of shard 0.
  Awaitable<absl::Status> Refresh(CallScope scope);
  // The number that the next new shard gets.
  Awaitable<absl::StatusOr<uint32_t>> NextShardNumber(CallScope scope);
  // Waits until the member answers. Errors: AuthenticationFailed.
  Awaitable<absl::Status> WaitUntilUp(ShardId shard);
  // A way to a process that is no member yet; the caller stops it. Null where there is none to
  // other processes.
  std::shared_ptr<wire::ShardChannel> Open(const std::string& name, const std::string& host) const;
  // Gives up all channels: the end.
  Awaitable<void> Stop();

  // The shard's reply as it came: its body is a view into bytes that the message keeps alive.
  // Errors: what the reply carries, and those of the channel; StaleConfig for a shard that is no
  // member (any more).
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
  // The rows of config.<collection> that match, in one batch.
  Awaitable<absl::StatusOr<std::vector<bson::Document>>> ReadRows(std::string_view collection,
                                                                  bson::Document filter,
                                                                  CallScope scope);
  // One row, empty if there is none.
  Awaitable<absl::StatusOr<bson::Document>> FindConfig(std::string_view collection,
                                                       std::string_view id, CallScope scope);

  Membership members_;
  catalog::RoutingTable routes_;
  base::HybridClock* clock_ = nullptr;
};

}  // namespace evenkeel::router
