// $setWindowFields: sorts rows into partitions and adds what functions of their windows give.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bson/path.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/window/function.h"

namespace evenkeel::query::window {

// A parsed $setWindowFields.
struct WindowSpec {
  struct Output {
    bson::Path path;
    FunctionPtr function;
  };
  ExpressionPtr partition_by;  // null: one partition
  SortPattern sort;            // may be empty
  std::vector<Output> outputs;
};

// Rows come out by partition, then in the sort's order; partitions that are null and missing are
// one. `spec` and `context` outlive the operator. Errors: TypeMismatch for a partition that is an
// array, those of the functions. Limits   the context's memory; past it 292 or 146.
class WindowOperator final : public Operator {
 public:
  WindowOperator(std::unique_ptr<Operator> input, const WindowSpec& spec,
                 const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  struct Entry {
    bson::OwnedValue partition;
    bson::Document sort_key;
    Row row;
  };
  absl::Status Take(Row row);
  void Sort();
  // Computes the partition that starts at next_ into ready_.
  absl::Status MakePartition();

  std::unique_ptr<Operator> input_;
  const WindowSpec& spec_;
  const MemoryBudget budget_;
  Evaluation evaluation_;
  std::vector<Entry> entries_;
  size_t held_bytes_ = 0;
  bool sorted_ = false;
  size_t next_ = 0;         // of the entries
  std::vector<Row> ready_;  // of the partition under way
  size_t at_ = 0;
  Batch batch_;
};

}  // namespace evenkeel::query::window
