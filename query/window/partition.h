// The rows of one partition of $setWindowFields, in order.
#pragma once

#include <span>
#include <vector>

#include "base/bson/document.h"
#include "query/exec/operator.h"
#include "query/expr/expression.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query::window {

struct Partition {
  std::span<const Row> rows;
  const SortPattern& sort;
  Evaluation& evaluation;

  size_t size() const { return rows.size(); }
  // What `expression` gives for each row, owned. Errors: of the expression.
  absl::StatusOr<std::vector<bson::OwnedValue>> Evaluate(const Expression& expression) const;
  // The value of the first sorted field of each row, missing where there is none.
  std::vector<bson::OwnedValue> SortedValues() const;
};

}  // namespace evenkeel::query::window
