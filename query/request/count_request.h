// The count command's fields, parsed and checked once.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>

#include "base/bson/view.h"

namespace evenkeel::query {

// Views point into the command's bytes.
struct CountRequest {
  bson::View query, collation;
  bson::Value hint;   // index name or key pattern; missing if none
  int64_t limit = 0;  // 0 is none; a negative one was turned to its absolute value
  int64_t skip = 0;
};

// Errors: TypeMismatch, BadValue for a negative skip and a limit that is no number, FailedToParse
// for a hint of a wrong type, 40415.
absl::StatusOr<CountRequest> ParseCount(bson::View command);

}  // namespace evenkeel::query
