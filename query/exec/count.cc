// Counting of rows.
#include "query/exec/count.h"

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"

namespace evenkeel::query {

absl::StatusOr<Step> CountOperator::Pull(Batch* out) {
  if (done_) return Step::kEnd;
  for (;;) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (const Row& row : batch_) {
      const bson::Value number = of_counts_ ? row.view[name_] : bson::Value();
      count_ += of_counts_ ? (number.IsNumber() ? bson::ToInt64Truncated(number) : 0) : 1;
    }
    if (step == Step::kEnd) break;
  }
  done_ = true;
  if (count_ == 0) return Step::kEnd;
  bson::Builder builder;
  if (count_ <= INT32_MAX) {
    builder.Append(name_, static_cast<int32_t>(count_));
  } else {
    builder.Append(name_, count_);
  }
  out->push_back(Row::Own(builder.Finish()));
  return Step::kRows;
}

}  // namespace evenkeel::query
