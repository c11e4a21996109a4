// The variables that a command defines for its expressions: let: {name: value, …}.
#pragma once

#include <absl/status/status.h>

#include "base/bson/view.h"

namespace evenkeel::query {

// Checks the names of a command's `let`. Errors: FailedToParse (9) for one that a user may not
// define.
absl::Status CheckLetNames(bson::View let);

}  // namespace evenkeel::query
