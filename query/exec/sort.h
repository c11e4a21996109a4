// Sorts its input: all of it, or the first rows of the order with a heap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "query/exec/operator.h"
#include "query/exec/sorter.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

struct SortOptions {
  std::optional<int64_t> limit;  // only so many rows are wanted
  bool emit_sort_key = false;    // rows leave with their "$sortKey", for a merger
};

// Rows of equal keys keep their order. `pattern` and `context` outlive the operator.
// Limits   the context's memory for sorts; past it runs on disk, or 292 and 146.
class SortOperator final : public Operator {
 public:
  SortOperator(std::unique_ptr<Operator> input, const SortPattern& pattern, SortOptions options,
               const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;
  void AppendStats(bson::Builder* out) const override;

 private:
  absl::Status Take(Row row);

  std::unique_ptr<Operator> input_;
  const SortPattern& pattern_;
  const SortOptions options_;
  const bson::StringComparator* collation_;
  Sorter sorter_;
  Batch batch_;
};

}  // namespace evenkeel::query
