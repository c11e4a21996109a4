// $hash, $hexHash: what their rows (misc.cc) call.
#pragma once

#include "query/expr/kernel.h"

namespace evenkeel::query::expr {

inline constexpr NamedArg kHashArgs[] = {{.name = "input", .required = true},
                                         {.name = "algorithm", .required = true}};

// Errors: TypeMismatch for an input that is neither a string nor binary data, BadValue for an
// unknown algorithm.
absl::StatusOr<bson::Value> EvalHash(const Call& call);
absl::StatusOr<bson::Value> EvalHexHash(const Call& call);

}  // namespace evenkeel::query::expr
