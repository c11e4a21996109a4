// The table of all update operators: the groups by name, and the lookup.
#pragma once

#include <span>
#include <string_view>

#include "query/update/op.h"

namespace evenkeel::query::update {

// One function per group file.
std::span<const UpdateOp> ArrayOps();
std::span<const UpdateOp> BitOps();
std::span<const UpdateOp> FieldOps();
std::span<const UpdateOp> PushOps();

// The row of an operator, null for an unknown name.
const UpdateOp* FindOperator(std::string_view name);
// Every row, sorted by name; for generated documentation and tests.
std::span<const UpdateOp* const> AllOperators();

}  // namespace evenkeel::query::update
