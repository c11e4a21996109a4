// The rows of one partition of $setWindowFields, in order.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "base/bson/document.h"
#include "query/exec/row_buffer.h"
#include "query/expr/expression.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query::window {

// The rows may lie on disk; what is computed of them is in memory. Limits   the context's memory
// for windows per list of values; past it 292 or 146.
struct Partition {
  const RowBuffer& rows;
  const SortPattern& sort;
  Evaluation& evaluation;

  size_t size() const { return rows.size(); }
  // Begins the evaluation of the first row, whose bytes `first` keeps.
  absl::Status BeginFirst(bson::Document* first) const;
  // What `expression` gives for each row, owned. Errors: of the expression.
  absl::StatusOr<std::vector<bson::OwnedValue>> Evaluate(const Expression& expression) const;
  // The value of the first sorted field of each row, missing where there is none.
  absl::StatusOr<std::vector<bson::OwnedValue>> SortedValues() const;
};

}  // namespace evenkeel::query::window
