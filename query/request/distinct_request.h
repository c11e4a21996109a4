// The distinct command's fields, parsed and checked once.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "base/bson/view.h"

namespace evenkeel::query {

// Views point into the command's bytes.
struct DistinctRequest {
  std::string_view key;  // a dotted path
  bson::View query, collation;
  bson::Value hint;  // index name or key pattern; missing if none
};

// Errors: 40414 without key, TypeMismatch, FailedToParse for a hint of a wrong type, 40415.
absl::StatusOr<DistinctRequest> ParseDistinct(bson::View command);

}  // namespace evenkeel::query
