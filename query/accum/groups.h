// The groups of accumulators, one function per group file; table.cc joins them.
#pragma once

#include <span>

#include "query/accum/accumulator.h"

namespace evenkeel::query::accum {

std::span<const AccumOp> CovarianceOps();
std::span<const AccumOp> FirstLastOps();
std::span<const AccumOp> MinMaxOps();
std::span<const AccumOp> ObjectOps();
std::span<const AccumOp> PercentileOps();
std::span<const AccumOp> SetOps();
std::span<const AccumOp> StatsOps();
std::span<const AccumOp> SumAvgOps();
std::span<const AccumOp> TopBottomOps();

// What every group promises about its rows: sorted by name, unique, "$" in front, spec and tests
// given. (That a row is whole or empty is a unit test's: under -fsanitize=undefined GCC 12 does not
// take a comparison of functions for a constant.)
constexpr bool RowsAreGood(std::span<const AccumOp> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const AccumOp& row = rows[i];
    if (!row.name.starts_with('$') || row.spec.empty() || row.tests.empty()) return false;
    if (i > 0 && rows[i - 1].name >= row.name) return false;
  }
  return true;
}

}  // namespace evenkeel::query::accum
