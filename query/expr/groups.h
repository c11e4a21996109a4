// The groups of expression operators, one function per group file; table.cc joins them.
#pragma once

#include <span>

#include "query/expr/kernel.h"

namespace evenkeel::query::expr {

std::span<const ExprOp> AccumulatorOps();
std::span<const ExprOp> ArithmeticOps();
std::span<const ExprOp> ArrayOps();
std::span<const ExprOp> ArrayLambdaOps();
std::span<const ExprOp> ArrayNOps();
std::span<const ExprOp> ArrayShapeOps();
std::span<const ExprOp> BitwiseOps();
std::span<const ExprOp> BooleanOps();
std::span<const ExprOp> ComparisonOps();
std::span<const ExprOp> ConditionalOps();
std::span<const ExprOp> ConvertOps();
std::span<const ExprOp> DateMathOps();
std::span<const ExprOp> DatePartsOps();
std::span<const ExprOp> DateStringOps();
std::span<const ExprOp> ExponentOps();
std::span<const ExprOp> MiscOps();
std::span<const ExprOp> ObjectOps();
std::span<const ExprOp> RoundingOps();
std::span<const ExprOp> SetOps();
std::span<const ExprOp> SizeOps();
std::span<const ExprOp> StringOps();
std::span<const ExprOp> StringRegexOps();
std::span<const ExprOp> StringSearchOps();
std::span<const ExprOp> TimestampOps();
std::span<const ExprOp> TrigOps();
std::span<const ExprOp> TypeOps();
std::span<const ExprOp> VariableOps();

// The row of an operator that is known and not supported yet.
constexpr ExprOp Unsupported(std::string_view name, std::string_view spec, std::string_view tests) {
  return {.name = name, .spec = spec, .tests = tests};
}

// What every group promises about its rows: sorted by name, unique, "$" in front, spec and tests
// given.
constexpr bool RowsAreGood(std::span<const ExprOp> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const ExprOp& row = rows[i];
    if (!row.name.starts_with('$') || row.spec.empty() || row.tests.empty()) return false;
    if (i > 0 && rows[i - 1].name >= row.name) return false;
  }
  return true;
}

}  // namespace evenkeel::query::expr
