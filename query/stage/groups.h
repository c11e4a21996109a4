// The rows of each stage file; table.cc joins them.
#pragma once

#include <span>

#include "query/stage/stage.h"

namespace evenkeel::query::stage {

std::span<const StageOp> AddFieldsStages();
std::span<const StageOp> BucketAutoStages();
std::span<const StageOp> BucketStages();
std::span<const StageOp> CountStages();
std::span<const StageOp> DensifyStages();
std::span<const StageOp> DocumentsStages();
std::span<const StageOp> FacetStages();
std::span<const StageOp> FillStages();
std::span<const StageOp> FusionStages();
std::span<const StageOp> GraphLookupStages();
std::span<const StageOp> GroupStages();
std::span<const StageOp> LimitStages();
std::span<const StageOp> LookupStages();
std::span<const StageOp> MatchStages();
std::span<const StageOp> MergeStages();
std::span<const StageOp> OutStages();
std::span<const StageOp> ProjectStages();
std::span<const StageOp> RedactStages();
std::span<const StageOp> ReplaceRootStages();
std::span<const StageOp> RowMetaStages();
std::span<const StageOp> SampleStages();
std::span<const StageOp> ScoreStages();
std::span<const StageOp> SetWindowFieldsStages();
std::span<const StageOp> SkipStages();
std::span<const StageOp> SortByCountStages();
std::span<const StageOp> SortStages();
std::span<const StageOp> SourceStages();
std::span<const StageOp> UnionWithStages();
std::span<const StageOp> UnsetStages();
std::span<const StageOp> UnsupportedStages();
std::span<const StageOp> UnwindStages();

// What every file promises about its rows: sorted by name, unique, "$" in front, spec and tests
// given.
constexpr bool RowsAreGood(std::span<const StageOp> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const StageOp& row = rows[i];
    if (!row.name.starts_with('$') || row.spec.empty() || row.tests.empty()) return false;
    if (row.internal != row.name.starts_with("$_")) return false;
    if (i > 0 && rows[i - 1].name >= row.name) return false;
  }
  return true;
}

}  // namespace evenkeel::query::stage
