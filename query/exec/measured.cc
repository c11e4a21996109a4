// Measures operators and writes their figures.
#include "query/exec/measured.h"

#include <absl/time/clock.h>

namespace evenkeel::query {

absl::StatusOr<Step> MeasuredOperator::Pull(Batch* out) {
  const size_t before = out->size();
  const absl::Time start = absl::Now();
  auto step = of_->Pull(out);
  time_ += absl::Now() - start;
  returned_ += static_cast<int64_t>(out->size() - before);
  return step;
}

void MeasuredOperator::AppendStats(bson::Builder* out) const {
  of_->AppendStats(out);
  out->Append("nReturned", returned_)
      .Append("executionTimeMillisEstimate", absl::ToInt64Milliseconds(time_));
}

void AppendSpilling(int64_t spills, const SpillFile* file, bson::Builder* out) {
  const SpillCounts counts = file == nullptr ? SpillCounts() : file->counts();
  out->Append("usedDisk", file != nullptr)
      .Append("spills", spills)
      .Append("spilledBytes", counts.bytes)
      .Append("spilledRecords", counts.records)
      .Append("spilledDataStorageSize", counts.stored_bytes);
}

}  // namespace evenkeel::query
