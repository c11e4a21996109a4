// Sorts its input: all of it, or the first rows of the order with a heap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

struct SortOptions {
  std::optional<int64_t> limit;  // only so many rows are wanted
  bool emit_sort_key = false;    // rows leave with their "$sortKey", for a merger
};

// Rows of equal keys keep their order. `pattern` and `context` outlive the operator.
// Limits   holds at most the context's memory; past it 292, or 146 when disk use is allowed.
class SortOperator final : public Operator {
 public:
  SortOperator(std::unique_ptr<Operator> input, const SortPattern& pattern, SortOptions options,
               const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  struct Entry {
    bson::Document key;
    uint64_t sequence;  // of arrival: breaks ties
    Row row;
    size_t SizeBytes() const;
  };

  bool Less(const Entry& a, const Entry& b) const;
  absl::Status Take(Row row);
  void Emit(Batch* out);

  std::unique_ptr<Operator> input_;
  const SortPattern& pattern_;
  const SortOptions options_;
  const bson::StringComparator* collation_;
  const MemoryBudget budget_;
  std::vector<Entry> entries_;  // with a limit a heap, the last of the order on top, until sorted_
  size_t held_bytes_ = 0;
  uint64_t arrived_ = 0;
  bool sorted_ = false;
  size_t next_ = 0;
  Batch batch_;
};

}  // namespace evenkeel::query
