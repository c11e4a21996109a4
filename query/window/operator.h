// $setWindowFields: sorts rows into partitions and adds what functions of their windows give.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bson/path.h"
#include "query/exec/operator.h"
#include "query/exec/row_buffer.h"
#include "query/exec/sorter.h"
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
// array, those of the functions. Limits   the context's memory; past it rows go to disk. The values
// that one function reads or gives for a partition stay in memory.
class WindowOperator final : public Operator {
 public:
  WindowOperator(std::unique_ptr<Operator> input, const WindowSpec& spec,
                 const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;
  void AppendStats(bson::Builder* out) const override;

 private:
  absl::Status Take(Row row);
  // Orders sort keys {p: partition, s: sort key, i: _id}.
  int CompareKeys(bson::View a, bson::View b) const;
  // Steps to the next row of the order; front_ is empty at the end.
  absl::Status Advance();
  // Computes the partition that starts at front_ into rows_.
  absl::Status MakePartition();
  std::unique_ptr<RowBuffer> NewBuffer() const;

  std::unique_ptr<Operator> input_;
  const WindowSpec& spec_;
  Evaluation evaluation_;
  Sorter sorter_;
  std::optional<KeyedRow> front_;
  std::unique_ptr<RowBuffer> rows_;          // of the partition under way, with what was computed
  std::optional<RowBuffer::Reader> reader_;  // of rows_; empty when they have all been given
  Batch batch_;
};

}  // namespace evenkeel::query::window
