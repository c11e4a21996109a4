// The only place that handles StaleConfig: forget the route, look it up again, repeat, bounded.
//
//   RouteRetry retry(context, ns);
//   while (true) {
//     EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
//     auto result = co_await Attempt(route);
//     if (!retry.IsStale(result.status())) co_return result;
//     EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
//   }
//
// Requests that meet a step of a DDL job wait here for its end, in growing pauses, until their
// deadline. Pauses start only with the second stale answer in a row: after the first one a fresh
// route is usually enough.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "catalog/routing_table.h"
#include "router/command.h"

namespace evenkeel::router {

using RoutePtr = std::shared_ptr<const catalog::Route>;

class RouteRetry {
 public:
  RouteRetry(RouterState& router, std::string ns, CallScope scope);

  // The route when it is known already, else null: saves the wait that Route is.
  RoutePtr Known() const;
  // The route to try now. Null: no such collection. Errors: of the lookup.
  Awaitable<absl::StatusOr<RoutePtr>> Route();
  // True for an answer that calls for Refresh and another attempt.
  bool IsStale(const absl::Status& status) const;
  // Forgets the route and waits a little. Errors: MaxTimeMSExpired at the deadline of the request,
  // ExceededTimeLimit when a request without one has waited for very long, Interrupted.
  Awaitable<absl::Status> Refresh();
  int attempts() const { return attempts_; }

 private:
  RouterState* router_;
  std::string ns_;
  CallScope scope_;
  absl::Time give_up_;
  int attempts_ = 0;
};

// What the client of a cursor is told when its shard answers StaleConfig: a cursor cannot be sent
// elsewhere.
absl::Status EndOfCursor(const absl::Status& status);

}  // namespace evenkeel::router
