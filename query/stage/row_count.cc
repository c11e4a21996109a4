// Reading the number of $skip and $limit.
#include "query/stage/row_count.h"

#include "base/bson/json.h"
#include "base/bson/number.h"

namespace evenkeel::query::stage {

absl::StatusOr<int64_t> ReadRowCount(std::string_view stage, bson::Value spec, ErrorCode code) {
  if (!spec.IsNumber()) {
    return Error(code, "invalid argument to {} stage: Expected a number in: {}: {}", stage, stage,
                 bson::ToDisplay(spec));
  }
  const std::optional<int64_t> count = bson::ToInt64Exact(spec);
  if (!count) {
    return Error(code, "invalid argument to {} stage: Cannot represent as a 64-bit integer: {}",
                 stage, bson::ToDisplay(spec));
  }
  if (*count < 0) {
    return Error(code, "invalid argument to {} stage: Expected a non-negative number in: {}: {}",
                 stage, stage, *count);
  }
  return *count;
}

}  // namespace evenkeel::query::stage
