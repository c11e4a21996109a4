// Moves data so that every shard has its share: ranges of sharded collections when shards have
// joined or leave, unsharded collections from shards that leave and from those that are much fuller
// than others. docs/moving_data.md
//
// What it wants is the newest row of config.assignments: equal ranges for the shards that stay. A
// collection whose entry names older ranges is moved, one at a time. Whatever stops it in between,
// the next round goes on.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/cancellation.h"
#include "catalog/assignment.h"
#include "router/command.h"
#include "router/ddl/live_routers.h"

namespace evenkeel::router::ddl {

// The switch of balancerStart and balancerStop, or of a client that writes config.settings.
Awaitable<absl::StatusOr<bool>> IsBalancerOn(RouterState& router);

// One per router; the one that leads does the work. One coroutine at a time.
class Balancer {
 public:
  // Looks whether anything is to be moved, and moves it. To be run every few seconds. Suspends: for
  // as long as moves take. Errors: of shard 0; a move that fails is logged and tried again later.
  Awaitable<absl::Status> RunRound(RouterState& router, base::CancellationToken cancelled);

 private:
  using Work = std::function<Awaitable<absl::Status>(CallScope scope)>;
  Awaitable<absl::Status> MoveRanges(RouterState& router,
                                     std::shared_ptr<const catalog::Assignment> newest,
                                     CallScope scope);
  Awaitable<absl::Status> EmptyShards(RouterState& router, std::vector<ShardId> leaving,
                                      CallScope scope);
  Awaitable<absl::Status> EvenOut(RouterState& router, std::vector<ShardId> members,
                                  CallScope scope);
  // Runs a move, unless it has failed lately.
  Awaitable<void> Try(RouterState& router, const std::string& ns, const Work& work,
                      CallScope scope);

  LiveRouters routers_;
  std::map<std::string, absl::Time> not_before_;  // by namespace, after a failure
  absl::Time next_even_out_ = absl::InfinitePast();
};

}  // namespace evenkeel::router::ddl
