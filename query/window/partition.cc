// Values of a partition's rows.
#include "query/window/partition.h"

#include "base/status.h"
#include "query/expr/field_path.h"

namespace evenkeel::query::window {
namespace {

using Values = std::vector<bson::OwnedValue>;

// Collects what `value_of` gives for each row.
template <typename ValueOf>
absl::StatusOr<Values> Collect(const Partition& partition, ValueOf value_of) {
  const QueryContext& context = partition.evaluation.query();
  const MemoryBudget budget(context, "$setWindowFields", context.memory.window);
  size_t held_bytes = 0;
  Values values;
  values.reserve(partition.size());
  RowBuffer::Reader reader(partition.rows);
  for (;;) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::optional<bson::View> row, reader.Next());
    if (!row) return values;
    partition.evaluation.Begin(*row);
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, value_of(*row));
    held_bytes += sizeof(bson::OwnedValue) + value.SizeBytes();
    if (budget.Exceeded(held_bytes)) return budget.Refuse();
    values.emplace_back(value);
  }
}

}  // namespace

absl::Status Partition::BeginFirst(bson::Document* first) const {
  RowBuffer::Reader reader(rows);
  EVENKEEL_ASSIGN_OR_RETURN(const std::optional<bson::View> row, reader.Next());
  *first = bson::Document(row.value_or(bson::View()));
  evaluation.Begin(*first);
  return absl::OkStatus();
}

absl::StatusOr<Values> Partition::Evaluate(const Expression& expression) const {
  return Collect(*this, [&](bson::View) { return expression.Evaluate(evaluation); });
}

absl::StatusOr<Values> Partition::SortedValues() const {
  return Collect(*this, [&](bson::View row) -> absl::StatusOr<bson::Value> {
    return expr::FollowPath(bson::Value(bson::Type::kObject, row.data()),
                            sort.fields().front().path, 0, evaluation.arena());
  });
}

}  // namespace evenkeel::query::window
