// The driver's queue, and running a chain to its end.
#include "query/exec/operator.h"

#include <algorithm>

#include "base/status.h"

namespace evenkeel::query {

absl::StatusOr<Step> InputQueue::Pull(Batch* out) {
  if (rows_.empty()) return finished_ ? Step::kEnd : Step::kNeedInput;
  const size_t count = std::min(rows_.size(), kBatchRows);
  for (size_t i = 0; i < count; ++i) {
    out->push_back(std::move(rows_.front()));
    rows_.pop_front();
  }
  return Step::kRows;
}

absl::StatusOr<std::vector<bson::Document>> RunToEnd(Operator& last) {
  std::vector<bson::Document> documents;
  Batch batch;
  for (;;) {
    batch.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, last.Pull(&batch));
    for (Row& row : batch) {
      row.MakeOwned();
      documents.push_back(std::move(*row.owned));
    }
    if (step == Step::kEnd) return documents;
    if (step == Step::kNeedInput) {
      return Error(ErrorCode::kInternalError, "the input of a pipeline is not finished");
    }
  }
}

}  // namespace evenkeel::query
