// $sample: rows chosen at random, each set of the wanted size equally likely.
#pragma once

#include <cstdint>
#include <memory>

#include "query/exec/operator.h"
#include "query/exec/sorter.h"

namespace evenkeel::query {

// Every row draws a number; those with the lowest numbers stay, in their order. Merged by that
// number, the samples of several shards are a sample of the whole.
class SampleOperator final : public Operator {
 public:
  // With `emit_sort_key` rows leave with their number as "$sortKey".
  SampleOperator(std::unique_ptr<Operator> input, int64_t size, bool emit_sort_key,
                 const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;
  void AppendStats(bson::Builder* out) const override;

 private:
  std::unique_ptr<Operator> input_;
  const bool emit_sort_key_;
  Sorter sorter_;
  Batch batch_;
};

}  // namespace evenkeel::query
