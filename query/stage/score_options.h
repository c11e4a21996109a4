// Options that $score and $scoreFusion share.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "base/bson/view.h"
#include "query/exec/scores.h"

namespace evenkeel::query::stage {

// "none", "sigmoid" or "minMaxScaler". Errors: TypeMismatch, BadValue; they name the stage.
absl::StatusOr<Normalization> ParseNormalization(bson::Value value, std::string_view stage);

}  // namespace evenkeel::query::stage
