// What a router is told of its process, whichever way it reaches its shards.
#pragma once

#include "cli/process.h"
#include "router/router.h"

namespace evenkeel::cli {

// `process` listens already and outlives the router. `options` and `command_line` are those of the
// command line.
router::RouterOptions RouterOptionsOf(const Process& process, const ProcessOptions& options,
                                      const bson::Document& command_line);

}  // namespace evenkeel::cli
