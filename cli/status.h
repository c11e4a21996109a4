// `evenkeel status`: asks a router how the cluster is and shows it.
#pragma once

#include "cli/ask_router.h"

namespace evenkeel::cli {

struct StatusOptions {
  RouterChoice router;
  bool json = false;
};

// Prints the status. Returns the exit code: 0 all is well, 1 something is down, 2 nobody could be
// asked.
int ShowStatus(const StatusOptions& options);

}  // namespace evenkeel::cli
