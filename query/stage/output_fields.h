// {field: {$accumulator: …}}, as $group and $bucketAuto have them.
#pragma once

#include <absl/status/statusor.h>

#include "query/accum/states.h"

namespace evenkeel::query::stage {

// Errors: 40235, 40236 for the name, 40234, 40238 for the object, and those of the accumulator.
absl::StatusOr<accum::OutputField> ParseOutputField(const bson::Element& field, ParseScope& scope);

}  // namespace evenkeel::query::stage
