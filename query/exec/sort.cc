// Keys for the sorter, and rows out of it.
#include "query/exec/sort.h"

#include "base/status.h"
#include "query/exec/measured.h"
#include "query/exec/sort_key.h"

namespace evenkeel::query {

SortOperator::SortOperator(std::unique_ptr<Operator> input, const SortPattern& pattern,
                           SortOptions options, const QueryContext& context)
    : input_(std::move(input)),
      pattern_(pattern),
      options_(options),
      collation_(context.collation),
      sorter_(
          context, "$sort", context.memory.sort,
          [this](bson::View a, bson::View b) { return pattern_.CompareKeys(a, b, collation_); },
          options.limit) {}

absl::Status SortOperator::Take(Row row) {
  // Most rows are behind the last that is wanted: those need no key.
  const KeyedRow* last = sorter_.Last();
  if (last != nullptr && pattern_.CompareDocuments(row.view, last->row.view, collation_) >= 0) {
    return absl::OkStatus();
  }
  return sorter_.Add(pattern_.KeyOf(row.view, collation_), std::move(row));
}

void SortOperator::AppendStats(bson::Builder* out) const {
  out->Append("totalDataSizeSortedBytesEstimate", sorter_.kept_bytes());
  AppendSpilling(sorter_.spills(), sorter_.file(), out);
}

absl::StatusOr<Step> SortOperator::Pull(Batch* out) {
  while (!sorter_.finished()) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Take(std::move(row)));
    if (step == Step::kEnd) EVENKEEL_RETURN_IF_ERROR(sorter_.Finish());
  }
  KeyedRow next;
  for (size_t count = 0; count < kBatchRows; ++count) {
    EVENKEEL_ASSIGN_OR_RETURN(const bool more, sorter_.Next(&next));
    if (!more) return count > 0 ? Step::kRows : Step::kEnd;
    if (options_.emit_sort_key) {
      const bson::Value key(bson::Type::kArray, next.key.view().data());
      next.row = Row::Own(WithSortKey(next.row.view, key));
    }
    out->push_back(std::move(next.row));
  }
  return Step::kRows;
}

}  // namespace evenkeel::query
