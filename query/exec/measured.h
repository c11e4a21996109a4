// What explain shows of the stages of a pipeline that has run.
#pragma once

#include <absl/time/time.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "query/exec/operator.h"
#include "query/spill/spill_file.h"

namespace evenkeel::query {

class Stage;

// Passes on what an operator gives, and measures it.
class MeasuredOperator final : public Operator {
 public:
  explicit MeasuredOperator(std::unique_ptr<Operator> of) : of_(std::move(of)) {}
  absl::StatusOr<Step> Pull(Batch* out) override;
  // Appends the operator's own figures, nReturned, and executionTimeMillisEstimate: its input's
  // time is part of it, as in MongoDB.
  void AppendStats(bson::Builder* out) const override;

 private:
  std::unique_ptr<Operator> of_;
  int64_t returned_ = 0;
  absl::Duration time_;
};

// The operators of a pipeline's stages, in their order.
struct StageTrace {
  struct Entry {
    const Stage* stage;
    const MeasuredOperator* measured;
  };
  std::vector<Entry> entries;
};

// Appends usedDisk, spills, spilledBytes, spilledRecords and spilledDataStorageSize. `file` is null
// when nothing was spilled.
void AppendSpilling(int64_t spills, const SpillFile* file, bson::Builder* out);

}  // namespace evenkeel::query
