// Joins the stage files' rows into one table, sorted by name.
#include "query/stage/table.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

std::vector<const StageOp*> JoinGroups() {
  const std::span<const StageOp> groups[] = {
      AddFieldsStages(),   BucketAutoStages(),  BucketStages(),          CountStages(),
      DensifyStages(),     DocumentsStages(),   FacetStages(),           FillStages(),
      FusionStages(),      GraphLookupStages(), GroupStages(),           LimitStages(),
      LookupStages(),      MatchStages(),       MergeStages(),           OutStages(),
      ProjectStages(),     RedactStages(),      ReplaceRootStages(),     RowMetaStages(),
      SampleStages(),      ScoreStages(),       SetWindowFieldsStages(), SkipStages(),
      SortByCountStages(), SortStages(),        SourceStages(),          UnionWithStages(),
      UnsetStages(),       UnsupportedStages(), UnwindStages(),
  };
  std::vector<const StageOp*> rows;
  for (const std::span<const StageOp> group : groups) {
    for (const StageOp& row : group) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const StageOp* a, const StageOp* b) { return a->name < b->name; });
  for (size_t i = 1; i < rows.size(); ++i) EVENKEEL_CHECK(rows[i - 1]->name != rows[i]->name);
  return rows;
}

}  // namespace

std::span<const StageOp* const> AllStages() {
  static const std::vector<const StageOp*> rows = JoinGroups();
  return rows;
}

const StageOp* FindStage(std::string_view name) {
  const std::span<const StageOp* const> rows = AllStages();
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const StageOp* row, std::string_view n) { return row->name < n; });
  return at != rows.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace evenkeel::query::stage
