// The variables that a command defines for its expressions: let: {name: value, …}.
#pragma once

#include <absl/status/statusor.h>

#include "base/bson/document.h"
#include "query/context.h"

namespace evenkeel::query {

// Checks the names of a command's `let`. Errors: FailedToParse (9) for one that a user may not
// define.
absl::Status CheckLetNames(bson::View let);

// The values of a command's `let`, by name: each is evaluated once, before any document is read,
// and may use those in front of it. A value that is missing becomes null. `context` has no
// variables of its own.
// Errors: those of CheckLetNames; 4890500 for an expression that reads a document; those of the
// expressions.
absl::StatusOr<bson::Document> EvaluateLet(bson::View let, const QueryContext& context);

}  // namespace evenkeel::query
