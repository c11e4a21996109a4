// A command's `let`: evaluated once by the router, so that all shards use the same values.
#pragma once

#include <absl/status/status.h>

#include "router/router.h"
#include "wire/protocol/request.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router {

// Puts values in the place of the expressions of `let` in a command that takes one, also in one
// that is explained. A `let` of a wrong type stays, to be refused with the command.
// Errors: of query::EvaluateLet and of the command's collation.
absl::Status ResolveLet(const RouterState& router, const wire::CommandTimes& times,
                        wire::Request* request);

}  // namespace evenkeel::router
