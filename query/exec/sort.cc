// Sorting in memory.
#include "query/exec/sort.h"

#include <algorithm>

#include "base/status.h"
#include "query/exec/sort_key.h"

namespace evenkeel::query {

SortOperator::SortOperator(std::unique_ptr<Operator> input, const SortPattern& pattern,
                           SortOptions options, const QueryContext& context)
    : input_(std::move(input)),
      pattern_(pattern),
      options_(options),
      collation_(context.collation),
      budget_(context, "$sort") {}

size_t SortOperator::Entry::SizeBytes() const {
  return sizeof(Entry) + sizeof(bson::Document) + key.SizeBytes() + row.view.SizeBytes();
}

bool SortOperator::Less(const Entry& a, const Entry& b) const {
  const int order = pattern_.CompareKeys(a.key, b.key, collation_);
  return order != 0 ? order < 0 : a.sequence < b.sequence;
}

absl::Status SortOperator::Take(Row row) {
  const auto less = [this](const Entry& a, const Entry& b) { return Less(a, b); };
  Entry entry{pattern_.KeyOf(row.view, collation_), arrived_++, std::move(row)};
  if (options_.limit) {
    const auto count_max = static_cast<size_t>(*options_.limit);
    if (count_max == 0) return absl::OkStatus();
    if (entries_.size() == count_max) {
      if (!Less(entry, entries_.front())) return absl::OkStatus();
      std::pop_heap(entries_.begin(), entries_.end(), less);
      held_bytes_ -= entries_.back().SizeBytes();
      entries_.pop_back();
    }
  }
  entry.row.MakeOwned();
  held_bytes_ += entry.SizeBytes();
  if (budget_.Exceeded(held_bytes_)) return budget_.Refuse();
  entries_.push_back(std::move(entry));
  if (options_.limit) std::push_heap(entries_.begin(), entries_.end(), less);
  return absl::OkStatus();
}

void SortOperator::Emit(Batch* out) {
  for (size_t count = 0; count < kBatchRows && next_ < entries_.size(); ++count) {
    Entry& entry = entries_[next_++];
    if (options_.emit_sort_key) {
      const bson::Value key(bson::Type::kArray, entry.key.view().data());
      entry.row = Row::Own(WithSortKey(entry.row.view, key));
    }
    out->push_back(std::move(entry.row));
    entry.key = bson::Document();
  }
}

absl::StatusOr<Step> SortOperator::Pull(Batch* out) {
  while (!sorted_) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Take(std::move(row)));
    if (step == Step::kEnd) {
      std::sort(entries_.begin(), entries_.end(),
                [this](const Entry& a, const Entry& b) { return Less(a, b); });
      sorted_ = true;
    }
  }
  if (next_ == entries_.size()) return Step::kEnd;
  Emit(out);
  return Step::kRows;
}

}  // namespace evenkeel::query
