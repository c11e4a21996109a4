// The table of all match operators: the groups by name, and the lookup.
#pragma once

#include <span>
#include <string_view>

#include "query/match/op.h"

namespace evenkeel::query::match {

// One function per group file, in its order of names.
std::span<const MatchOp> ArrayOps();
std::span<const MatchOp> BitwiseOps();
std::span<const MatchOp> ComparisonOps();
std::span<const MatchOp> ElementOps();
std::span<const MatchOp> EvaluationOps();
std::span<const MatchOp> GeoOps();
std::span<const MatchOp> LogicalOps();

// The row of an operator, null for an unknown name.
const MatchOp* FindOperator(std::string_view name);
// Every row, sorted by name; for generated documentation and tests.
std::span<const MatchOp* const> AllOperators();

}  // namespace evenkeel::query::match
