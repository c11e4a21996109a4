// Partitions one after the other.
#include "query/window/operator.h"

#include <algorithm>

#include "base/bson/compare.h"
#include "base/status.h"
#include "query/exec/set_path.h"

namespace evenkeel::query::window {

WindowOperator::WindowOperator(std::unique_ptr<Operator> input, const WindowSpec& spec,
                               const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      budget_(context, "$setWindowFields"),
      evaluation_(context) {}

absl::Status WindowOperator::Take(Row row) {
  bson::OwnedValue partition(NullValue());
  if (spec_.partition_by != nullptr) {
    evaluation_.Begin(row.view);
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, spec_.partition_by->Evaluate(evaluation_));
    if (value.Is(bson::Type::kArray)) {
      return Error(ErrorCode::kTypeMismatch,
                   "An expression used to partition cannot evaluate to value of type array");
    }
    if (!value.IsNullish()) partition = bson::OwnedValue(value);
  }
  bson::Document key;
  if (!spec_.sort.empty()) key = spec_.sort.KeyOf(row.view, evaluation_.collation());
  row.MakeOwned();
  held_bytes_ +=
      sizeof(Entry) + partition.value().SizeBytes() + key.SizeBytes() + row.view.SizeBytes();
  if (budget_.Exceeded(held_bytes_)) return budget_.Refuse();
  entries_.push_back({std::move(partition), std::move(key), std::move(row)});
  return absl::OkStatus();
}

void WindowOperator::Sort() {
  std::stable_sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    const bson::StringComparator* collation = evaluation_.collation();
    const int order = bson::Compare(a.partition, b.partition, collation);
    if (order != 0) return order < 0;
    return spec_.sort.CompareKeys(a.sort_key, b.sort_key, collation) < 0;
  });
}

absl::Status WindowOperator::MakePartition() {
  ready_.clear();
  at_ = 0;
  const bson::OwnedValue partition_key = entries_[next_].partition;
  while (next_ < entries_.size() &&
         bson::Compare(entries_[next_].partition, partition_key, evaluation_.collation()) == 0) {
    ready_.push_back(std::move(entries_[next_++].row));
  }
  const Partition partition{ready_, spec_.sort, evaluation_};
  std::vector<std::vector<bson::OwnedValue>> results;
  for (const WindowSpec::Output& output : spec_.outputs) {
    EVENKEEL_ASSIGN_OR_RETURN(std::vector<bson::OwnedValue> values,
                              output.function->Compute(partition));
    results.push_back(std::move(values));
  }
  for (size_t i = 0; i < ready_.size(); ++i) {
    for (size_t j = 0; j < results.size(); ++j) {
      ready_[i] = Row::Own(WithField(ready_[i].view, spec_.outputs[j].path, results[j][i]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Step> WindowOperator::Pull(Batch* out) {
  while (!sorted_) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Take(std::move(row)));
    if (step != Step::kEnd) continue;
    Sort();
    sorted_ = true;
  }
  if (at_ == ready_.size()) {
    if (next_ == entries_.size()) return Step::kEnd;
    EVENKEEL_RETURN_IF_ERROR(MakePartition());
  }
  for (size_t count = 0; count < kBatchRows && at_ < ready_.size(); ++count) {
    out->push_back(std::move(ready_[at_++]));
  }
  return Step::kRows;
}

}  // namespace evenkeel::query::window
