// Joins the groups of expression operators into one table, sorted by name.
#include "query/expr/table.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

std::vector<const ExprOp*> JoinGroups() {
  const std::span<const ExprOp> groups[] = {
      AccumulatorOps(), ArithmeticOps(),  ArrayLambdaOps(),  ArrayNOps(),     ArrayOps(),
      ArrayShapeOps(),  BitwiseOps(),     BooleanOps(),      ComparisonOps(), ConditionalOps(),
      ConvertOps(),     DateMathOps(),    DatePartsOps(),    DateStringOps(), ExponentOps(),
      MiscOps(),        ObjectOps(),      RoundingOps(),     SetOps(),        SizeOps(),
      StringOps(),      StringRegexOps(), StringSearchOps(), TimestampOps(),  TrigOps(),
      TypeOps(),        VariableOps(),
  };
  std::vector<const ExprOp*> rows;
  for (const std::span<const ExprOp> group : groups) {
    for (const ExprOp& row : group) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const ExprOp* a, const ExprOp* b) { return a->name < b->name; });
  for (size_t i = 1; i < rows.size(); ++i) EVENKEEL_CHECK(rows[i - 1]->name != rows[i]->name);
  return rows;
}

}  // namespace

std::span<const ExprOp* const> AllOperators() {
  static const std::vector<const ExprOp*> rows = JoinGroups();
  return rows;
}

const ExprOp* FindOperator(std::string_view name) {
  const std::span<const ExprOp* const> rows = AllOperators();
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const ExprOp* row, std::string_view n) { return row->name < n; });
  return at != rows.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace evenkeel::query::expr
