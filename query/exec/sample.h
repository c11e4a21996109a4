// $sample: rows chosen at random, each set of the wanted size equally likely.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"

namespace evenkeel::query {

// Every row draws a number; those with the lowest numbers stay, in their order. Merged by that
// number, the samples of several shards are a sample of the whole.
class SampleOperator final : public Operator {
 public:
  // With `emit_sort_key` rows leave with their number as "$sortKey".
  SampleOperator(std::unique_ptr<Operator> input, int64_t size, bool emit_sort_key,
                 const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  struct Entry {
    double number;
    Row row;
    friend bool operator<(const Entry& a, const Entry& b) { return a.number < b.number; }
  };
  absl::Status Take(Row row);

  std::unique_ptr<Operator> input_;
  const size_t size_;
  const bool emit_sort_key_;
  const MemoryBudget budget_;
  std::vector<Entry> entries_;  // a heap with the highest number on top, until complete_
  size_t held_bytes_ = 0;
  bool complete_ = false;
  size_t next_ = 0;
  Batch batch_;
};

}  // namespace evenkeel::query
