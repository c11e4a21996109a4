// Values of a partition's rows.
#include "query/window/partition.h"

#include "base/status.h"
#include "query/expr/field_path.h"

namespace evenkeel::query::window {

absl::StatusOr<std::vector<bson::OwnedValue>> Partition::Evaluate(
    const Expression& expression) const {
  std::vector<bson::OwnedValue> values;
  values.reserve(rows.size());
  for (const Row& row : rows) {
    evaluation.Begin(row.view);
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, expression.Evaluate(evaluation));
    values.emplace_back(value);
  }
  return values;
}

std::vector<bson::OwnedValue> Partition::SortedValues() const {
  std::vector<bson::OwnedValue> values;
  values.reserve(rows.size());
  for (const Row& row : rows) {
    evaluation.Begin(row.view);
    values.emplace_back(expr::FollowPath(bson::Value(bson::Type::kObject, row.view.data()),
                                         sort.fields().front().path, 0, evaluation.arena()));
  }
  return values;
}

}  // namespace evenkeel::query::window
