// Random samples by the lowest of random numbers.
#include "query/exec/sample.h"

#include <algorithm>

#include "base/bson/builder.h"
#include "base/random.h"
#include "base/status.h"
#include "query/exec/sort_key.h"

namespace evenkeel::query {

SampleOperator::SampleOperator(std::unique_ptr<Operator> input, int64_t size, bool emit_sort_key,
                               const QueryContext& context)
    : input_(std::move(input)),
      size_(static_cast<size_t>(size)),
      emit_sort_key_(emit_sort_key),
      budget_(context, "$sample") {}

absl::Status SampleOperator::Take(Row row) {
  constexpr double kTwoTo53 = 9007199254740992.0;
  const double number = static_cast<double>(base::GlobalRandom64() >> 11) / kTwoTo53;
  if (entries_.size() == size_) {
    if (number >= entries_.front().number) return absl::OkStatus();
    std::pop_heap(entries_.begin(), entries_.end());
    held_bytes_ -= sizeof(Entry) + entries_.back().row.view.SizeBytes();
    entries_.pop_back();
  }
  row.MakeOwned();
  held_bytes_ += sizeof(Entry) + row.view.SizeBytes();
  if (budget_.Exceeded(held_bytes_)) return budget_.Refuse();
  entries_.push_back({number, std::move(row)});
  std::push_heap(entries_.begin(), entries_.end());
  return absl::OkStatus();
}

absl::StatusOr<Step> SampleOperator::Pull(Batch* out) {
  while (!complete_) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Take(std::move(row)));
    complete_ = step == Step::kEnd;
    if (complete_) std::sort(entries_.begin(), entries_.end());
  }
  if (next_ == entries_.size()) return Step::kEnd;
  for (size_t count = 0; count < kBatchRows && next_ < entries_.size(); ++count) {
    Entry& entry = entries_[next_++];
    if (emit_sort_key_) {
      bson::Builder key;
      key.Append("0", entry.number);
      const bson::Document array = key.Finish();
      const bson::Value value(bson::Type::kArray, array.view().data());
      entry.row = Row::Own(WithSortKey(entry.row.view, value));
    }
    out->push_back(std::move(entry.row));
  }
  return Step::kRows;
}

}  // namespace evenkeel::query
