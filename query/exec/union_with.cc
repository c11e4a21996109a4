// Streams one after the other.
#include "query/exec/union_with.h"

#include "base/status.h"

namespace evenkeel::query {

absl::StatusOr<Step> UnionOperator::Pull(Batch* out) {
  if (context_.foreign == nullptr) {
    return Error(ErrorCode::kInternalError, "$unionWith runs where no collections can be read");
  }
  if (read_ == nullptr) {
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(out));
    if (step != Step::kEnd) return step;
    read_ = context_.foreign->Begin(spec_.ns, spec_.pipeline, context_.let);
    return out->empty() ? Step::kNeedInput : Step::kRows;
  }
  if (!read_->rows.empty()) {
    for (bson::Document& row : read_->rows) out->push_back(Row::Own(std::move(row)));
    read_->rows.clear();
    return Step::kRows;
  }
  if (read_->ended) return Step::kEnd;
  context_.foreign->Want(read_);
  return Step::kNeedInput;
}

}  // namespace evenkeel::query
