// Rewrites of a parsed pipeline that keep its result.
#pragma once

#include <cstdint>
#include <optional>

#include "query/stage/stage.h"

namespace evenkeel::query::stage {

// Applies the rules of query/stage/rewrite/rules.h, and tells $sort how many rows are wanted of it.
void Optimize(StageList& stages, const QueryContext& context);

// How many rows the $skip and $limit stages from index `from` on can need; nothing when there is no
// $limit.
std::optional<int64_t> RowsWanted(const StageList& stages, size_t from);

}  // namespace evenkeel::query::stage
