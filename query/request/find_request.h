// The find command's fields, parsed and checked once; the router and the shards read the same
// struct.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>

#include "base/bson/view.h"

namespace evenkeel::query {

// Views point into the command's bytes.
struct FindRequest {
  bson::View filter, projection, sort, let, collation;
  bson::Value hint;
  bson::View min, max;
  int64_t skip = 0;
  std::optional<int64_t> limit;  // 0 is none
  std::optional<int64_t> batch_size;
  bool single_batch = false, return_key = false, show_record_id = false, no_cursor_timeout = false;
  bool tailable = false, await_data = false, allow_partial_results = false;
  std::optional<bool> allow_disk_use;
};

// Errors: TypeMismatch (14) for wrong types, 40415 for unknown fields, BadValue (2) / 51024 for
// negative numbers … as MongoDB 7.0.
absl::StatusOr<FindRequest> ParseFind(bson::View command);

}  // namespace evenkeel::query
