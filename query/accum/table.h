// The table of all accumulators and window functions.
#pragma once

#include <span>
#include <string_view>

#include "query/accum/accumulator.h"

namespace evenkeel::query::accum {

// The row of an accumulator ("$sum"), null for an unknown name.
const AccumOp* FindAccumulator(std::string_view name);
// Every row, sorted by name.
std::span<const AccumOp* const> AllAccumulators();

// Parses {$op: …} for $group. Errors: 15952 unknown, 40237 not unary, CommandNotSupported for a
// known one without support, and those of the argument.
absl::StatusOr<AccumSpec> ParseGroupAccumulator(std::string_view name, bson::Value args,
                                                ParseScope& scope);
// The same for a window, where an array is an expression like others. Errors: FailedToParse for an
// unknown one.
absl::StatusOr<AccumSpec> ParseWindowAccumulator(std::string_view name, bson::Value args,
                                                 ParseScope& scope);

}  // namespace evenkeel::query::accum
