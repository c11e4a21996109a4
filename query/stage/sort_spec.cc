// Checks before SortPattern parses.
#include "query/stage/sort_spec.h"

#include "base/bson/number.h"
#include "base/status.h"
#include "query/expr/kernel.h"

namespace evenkeel::query::stage {

absl::StatusOr<SortPattern> ParseSortSpec(bson::View spec) {
  for (const auto& [key, value] : spec) {
    if (value.Is(bson::Type::kObject)) continue;  // {$meta: …}: the pattern knows which there are
    if (!value.IsNumber()) {
      return Error(Location(15974), "Illegal key in $sort specification: {}: {}", key,
                   expr::TypeName(value.type()));
    }
    const std::optional<int64_t> direction = bson::ToInt64Exact(value);
    if (!direction || (*direction != 1 && *direction != -1)) {
      return Error(Location(15975),
                   "$sort key ordering must be 1 (for ascending) or -1 (for "
                   "descending)");
    }
  }
  return SortPattern::Parse(spec);
}

}  // namespace evenkeel::query::stage
