// $serializeEJSON, $deserializeEJSON: what their rows (convert_ops.cc) call.
#pragma once

#include "query/expr/kernel.h"

namespace evenkeel::query::expr {

inline constexpr NamedArg kSerializeEjsonArgs[] = {
    {.name = "input", .required = true}, {.name = "relaxed"}, {.name = "onError", .lazy = true}};
inline constexpr NamedArg kDeserializeEjsonArgs[] = {{.name = "input", .required = true},
                                                     {.name = "onError", .lazy = true}};

// Errors: TypeMismatch for `relaxed`.
absl::StatusOr<bson::Value> EvalSerializeEjson(const Call& call);
// Errors: ConversionFailure for wrappers that cannot be read, unless there is an onError.
absl::StatusOr<bson::Value> EvalDeserializeEjson(const Call& call);

}  // namespace evenkeel::query::expr
