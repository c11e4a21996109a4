// The number that $skip and $limit take.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string_view>

#include "base/bson/view.h"
#include "base/status.h"

namespace evenkeel::query::stage {

// A whole number of at least zero in any numeric type. Errors: `code` for everything else.
absl::StatusOr<int64_t> ReadRowCount(std::string_view stage, bson::Value spec, ErrorCode code);

}  // namespace evenkeel::query::stage
