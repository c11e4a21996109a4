// The getMore and killCursors commands' fields, parsed and checked once.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bson/view.h"
#include "base/types.h"

namespace evenkeel::query {

// Views point into the command's bytes.
struct GetMoreRequest {
  CursorId cursor;
  std::string_view collection;
  std::optional<int64_t> batch_size;  // nothing if absent or 0
};

// Errors: 40414 without collection, TypeMismatch, BadValue for a batch size below 0,
// InvalidNamespace for an empty collection, 40415.
absl::StatusOr<GetMoreRequest> ParseGetMore(bson::View command);

struct KillCursorsRequest {
  std::string_view collection;
  std::vector<CursorId> cursors;  // at least one
};

// Errors: 40414 without cursors, BadValue for an empty list, TypeMismatch, 40415.
absl::StatusOr<KillCursorsRequest> ParseKillCursors(bson::View command);

}  // namespace evenkeel::query
