// Field paths as expressions use them: checked once, then followed through nested documents and
// arrays.
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "base/bson/path.h"
#include "base/bson/view.h"
#include "query/expr/arena.h"

namespace evenkeel::query::expr {

// Checks a dotted path. Errors: 16872 / 40352 empty, 40353 a dot at the end, 15998 an empty part,
// 16410 a part that starts with '$', 16411 a zero byte, Overflow (15) past 200 parts.
absl::Status CheckFieldPath(std::string_view path);
// The same for one name without dots (a field of an object literal, a group's output). Errors:
// 16412 for a dot, too.
absl::Status CheckFieldName(std::string_view name);

// Follows the parts of `path` from `first` on. An array on the way gives an array of what the
// objects in it hold there; arrays directly within arrays are passed over. Missing when there is no
// value. Results point into `value` or the arena.
bson::Value FollowPath(bson::Value value, const bson::Path& path, size_t first, EvalArena& arena);

}  // namespace evenkeel::query::expr
