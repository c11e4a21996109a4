// Joins the groups of match operators into one sorted table.
#include "query/match/table.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace evenkeel::query::match {
namespace {

std::vector<const MatchOp*> JoinGroups() {
  std::vector<const MatchOp*> rows;
  for (const auto& group : {ArrayOps(), BitwiseOps(), ComparisonOps(), ElementOps(),
                            EvaluationOps(), GeoOps(), LogicalOps()}) {
    for (const MatchOp& row : group) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const MatchOp* a, const MatchOp* b) { return a->name < b->name; });
  for (size_t i = 1; i < rows.size(); ++i) EVENKEEL_CHECK(rows[i - 1]->name != rows[i]->name);
  return rows;
}

}  // namespace

std::span<const MatchOp* const> AllOperators() {
  static const std::vector<const MatchOp*> rows = JoinGroups();
  return rows;
}

const MatchOp* FindOperator(std::string_view name) {
  const auto rows = AllOperators();
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const MatchOp* row, std::string_view n) { return row->name < n; });
  return at != rows.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace evenkeel::query::match
