// Joins the groups of update operators into one sorted table.
#include "query/update/table.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace evenkeel::query::update {
namespace {

std::vector<const UpdateOp*> JoinGroups() {
  std::vector<const UpdateOp*> rows;
  for (const auto& group : {ArrayOps(), BitOps(), FieldOps(), PushOps()}) {
    for (const UpdateOp& row : group) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const UpdateOp* a, const UpdateOp* b) { return a->name < b->name; });
  for (size_t i = 1; i < rows.size(); ++i) EVENKEEL_CHECK(rows[i - 1]->name != rows[i]->name);
  return rows;
}

}  // namespace

std::span<const UpdateOp* const> AllOperators() {
  static const std::vector<const UpdateOp*> rows = JoinGroups();
  return rows;
}

const UpdateOp* FindOperator(std::string_view name) {
  const auto rows = AllOperators();
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const UpdateOp* row, std::string_view n) { return row->name < n; });
  return at != rows.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace evenkeel::query::update
