// Pauses and bounds of repeated attempts.
#include "router/retry.h"

#include <algorithm>
#include <utility>

#include "base/async/wait.h"
#include "base/status.h"
#include "router/router.h"

namespace evenkeel::router {
namespace {

constexpr absl::Duration kPauseMin = absl::Milliseconds(1);
constexpr absl::Duration kPauseMax = absl::Milliseconds(50);
// A request without maxTimeMS waits this long for a DDL job, e.g. for shardCollection of a filled
// collection.
constexpr absl::Duration kWaitMax = absl::Minutes(10);

}  // namespace

RouteRetry::RouteRetry(RouterState& router, std::string ns, CallScope scope)
    : router_(&router), ns_(std::move(ns)), scope_(std::move(scope)) {}

RoutePtr RouteRetry::Known() const { return router_->cluster->routes().Find(ns_); }

Awaitable<absl::StatusOr<RoutePtr>> RouteRetry::Route() {
  co_return co_await router_->cluster->Lookup(ns_, scope_.deadline, scope_.cancelled);
}

bool RouteRetry::IsStale(const absl::Status& status) const {
  return !status.ok() && Is(status, kStaleRouting);
}

Awaitable<absl::Status> RouteRetry::Refresh() {
  router_->cluster->Forget(ns_);
  const absl::Time now = router_->wall->Now();
  if (++attempts_ == 1) {
    give_up_ = std::min(scope_.deadline, now + kWaitMax);
    co_return absl::OkStatus();
  }
  const absl::Duration pause =
      std::min(kPauseMax, kPauseMin * static_cast<double>(1 << std::min(attempts_ - 2, 10)));
  if (now + pause >= give_up_) {
    if (give_up_ == scope_.deadline) {
      co_return MakeError(ErrorCode::kMaxTimeMSExpired, "operation exceeded time limit");
    }
    co_return Error(ErrorCode::kExceededTimeLimit,
                    "the catalog entry of '{}' is held by a long running change", ns_);
  }
  co_return co_await base::Sleep(pause, scope_.cancelled);
}

absl::Status EndOfCursor(const absl::Status& status) {
  if (status.ok() || !Is(status, kStaleRouting)) return status;
  return Error(ErrorCode::kQueryPlanKilled, "the cursor's collection has changed: {}",
               MessageOf(status));
}

}  // namespace evenkeel::router
