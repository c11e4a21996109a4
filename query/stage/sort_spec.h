// The sort specification of stages.
#pragma once

#include <absl/status/statusor.h>

#include "query/plan/sort_pattern.h"

namespace evenkeel::query::stage {

// Errors: 15974 for a direction that is no number, 15975 for one other than 1 and -1, and those of
// the paths. Requires an object; an empty one is allowed.
absl::StatusOr<SortPattern> ParseSortSpec(bson::View spec);

}  // namespace evenkeel::query::stage
