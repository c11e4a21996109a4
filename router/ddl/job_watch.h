// Several routers: who lives, and who finishes the jobs of those that do not.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "router/command.h"

namespace evenkeel::router::ddl {

// What one router knows of the others' jobs: a router whose row in config.mongos stands still is
// dead.
class JobWatch {
 public:
  static constexpr absl::Duration kSilenceMax = absl::Seconds(30);
  // Notes that this router lives, then finishes or undoes the jobs of dead ones. To be called every
  // few seconds. Errors: of shard 0.
  Awaitable<absl::Status> Run(RouterState& router);

 private:
  struct Seen {
    int64_t ping_ms = 0;
    absl::Time since;  // when this value was seen first
  };
  bool IsDead(RouterState& router, std::string_view process_id) const;
  void Note(bson::View row, absl::Time now);

  std::map<std::string, Seen> seen_;  // by process id
  absl::Time begun_ = absl::InfiniteFuture();
};

}  // namespace evenkeel::router::ddl
