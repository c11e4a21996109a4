// Which routers of the cluster live, by their rows in config.mongos: a row that stands still is of
// a dead one.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "router/command.h"

namespace evenkeel::router::ddl {

// What one router has seen of the others. One coroutine at a time.
class LiveRouters {
 public:
  static constexpr absl::Duration kSilenceMax = absl::Seconds(30);
  // Looks at the rows, which it returns. To be called every few seconds. Errors: of shard 0.
  Awaitable<absl::StatusOr<std::vector<bson::Document>>> Look(RouterState& router);
  bool IsDead(const RouterState& router, std::string_view process_id) const;
  // True when no living router has a smaller process id: what one router shall do for all is this
  // one's to do. Two may think so for a while.
  bool Leads(const RouterState& router) const;

 private:
  struct Seen {
    int64_t ping_ms = 0;
    absl::Time since;  // when this value was seen first
  };
  void Note(bson::View row, absl::Time now);

  std::map<std::string, Seen> seen_;  // by process id
  absl::Time begun_ = absl::InfiniteFuture();
};

}  // namespace evenkeel::router::ddl
