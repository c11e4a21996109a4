// Several routers: who finishes the jobs of those that do not live any more.
#pragma once

#include <absl/status/status.h>

#include "router/command.h"
#include "router/ddl/live_routers.h"

namespace evenkeel::router::ddl {

class JobWatch {
 public:
  // Notes that this router lives, then finishes or undoes the jobs of dead ones. To be called every
  // few seconds. Errors: of shard 0.
  Awaitable<absl::Status> Run(RouterState& router);

 private:
  LiveRouters routers_;
};

}  // namespace evenkeel::router::ddl
