// $similarityCosine and its neighbours: what their rows (misc.cc) call.
#pragma once

#include "query/expr/kernel.h"

namespace evenkeel::query::expr {

// {$op: [a, b]} and {$op: {vectors: [a, b], score: bool}}.
absl::StatusOr<ExpressionPtr> ParseSimilarity(const ExprOp& op, bson::Value args,
                                              ParseScope& scope);
// Errors: TypeMismatch for what is no vector of numbers, BadValue for vectors of different length
// and for malformed binary ones.
absl::StatusOr<bson::Value> EvalCosine(const Call& call);
absl::StatusOr<bson::Value> EvalDotProduct(const Call& call);
absl::StatusOr<bson::Value> EvalEuclidean(const Call& call);

}  // namespace evenkeel::query::expr
