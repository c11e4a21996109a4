// The arrayFilters of an update: one filter per identifier.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "base/bson/view.h"
#include "query/context.h"
#include "query/update/tree.h"

namespace evenkeel::query::update {

// Parses the array of filters. Errors: FailedToParse for a filter without or with more than one
// identifier, for one given twice; BadValue for an identifier that does not start with a lowercase
// letter; 224 for $expr.
absl::StatusOr<std::vector<ArrayFilter>> ParseArrayFilters(bson::View array,
                                                           const QueryContext& context);

}  // namespace evenkeel::query::update
