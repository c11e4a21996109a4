// The table of all expression operators.
#pragma once

#include <span>
#include <string_view>

#include "query/expr/kernel.h"

namespace evenkeel::query::expr {

// The row of an operator ("$add"), null for an unknown name.
const ExprOp* FindOperator(std::string_view name);
// Every row, sorted by name; for generated documentation and tests.
std::span<const ExprOp* const> AllOperators();

}  // namespace evenkeel::query::expr
