// Several routers: who finishes the jobs of those that do not live any more.
#pragma once

#include <absl/status/status.h>

#include <vector>

#include "base/bson/document.h"
#include "router/command.h"
#include "router/ddl/live_routers.h"

namespace evenkeel::router::ddl {

class JobWatch {
 public:
  // Notes that this router lives, then finishes or undoes the jobs of dead ones, and those of its
  // own that were left. To be called every few seconds. Errors: of shard 0.
  Awaitable<absl::Status> Run(RouterState& router);

 private:
  Awaitable<absl::Status> Resume(RouterState& router, bson::View record);
  // Lets currentOp show the moves of others that live.
  void ShareMoves(RouterState& router, const std::vector<bson::Document>& routers) const;

  LiveRouters routers_;
};

}  // namespace evenkeel::router::ddl
