// The order of the rewrites.
#include "query/stage/optimize.h"

#include "query/stage/rewrite/rules.h"

namespace evenkeel::query::stage {

std::optional<int64_t> RowsWanted(const StageList& stages, size_t from) {
  int64_t skipped = 0;
  for (size_t i = from; i < stages.size(); ++i) {
    int64_t sum = 0;
    if (const std::optional<int64_t> skip = stages[i]->SkipCount()) {
      if (__builtin_add_overflow(skipped, *skip, &skipped)) return std::nullopt;
    } else if (const std::optional<int64_t> limit = stages[i]->LimitCount()) {
      if (__builtin_add_overflow(skipped, *limit, &sum)) return std::nullopt;
      return sum;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void Optimize(StageList& stages, const QueryContext& context) {
  AddPlainComparisons(stages, context);
  MoveMatches(stages, context);
  JoinMatches(stages, context);
  SortInGroups(stages, context);
  JoinUnwinds(stages);
  NarrowRows(stages, context);
  for (size_t i = 0; i < stages.size(); ++i) {
    if (const std::optional<int64_t> rows = RowsWanted(stages, i + 1)) stages[i]->LimitTo(*rows);
  }
}

}  // namespace evenkeel::query::stage
