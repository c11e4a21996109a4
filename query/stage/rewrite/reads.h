// What filters and projections read of a document, for rewrites that move or narrow stages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bson/view.h"
#include "query/context.h"
#include "query/expr/expression.h"

namespace evenkeel::query::stage {

// Adds the paths that a filter looks at. False when they cannot be told.
bool AddFilterReads(bson::View filter, const QueryContext& context, Dependencies* reads);
// The same as a list; nothing when they cannot be told or an expression is not the same each time.
std::optional<std::vector<std::string>> FilterPaths(bson::View filter, const QueryContext& context);

// Adds what the specification of $project, $addFields or $set, which was parsed before, reads.
void AddProjectionReads(bson::View spec, const QueryContext& context, Dependencies* reads);

}  // namespace evenkeel::query::stage
