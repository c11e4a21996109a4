// The variables that a command defines for its expressions: let: {name: expression, …}.
#pragma once

#include <absl/status/statusor.h>

#include "base/bson/document.h"
#include "query/context.h"

namespace evenkeel::query {

// The values of a command's `let`, by name: each is evaluated once, before any document is read,
// and may use those in front of it. A value that is missing becomes null. `context` has no
// variables of its own.
// Errors: FailedToParse (9) for a name that a user may not define; 4890500 for an expression that
// reads a document; those of the expressions.
absl::StatusOr<bson::Document> EvaluateLet(bson::View let, const QueryContext& context);

// The values of a command's `let`, by name: each is evaluated once, before any document is read,
// and may use those in front of it. A value that is missing becomes null. `context` has no
// variables of its own.
// Errors: those of CheckLetNames; 4890500 for an expression that reads a document; those of the
// expressions.
absl::StatusOr<bson::Document> EvaluateLet(bson::View let, const QueryContext& context);

}  // namespace evenkeel::query
