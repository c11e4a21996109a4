// $facet: several pipelines over one input, their results as arrays of one document.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"

namespace evenkeel::query {

// Limits   the results of all branches hold at most the context's memory; the document is bounded
// by BSON. Errors: 4031700 past the one, BSONObjectTooLarge past the other.
class FacetOperator final : public Operator {
 public:
  struct Branch {
    std::string name;
    InputQueue* queue = nullptr;  // at the bottom of `last`
    std::unique_ptr<Operator> last;
    std::vector<bson::Document> rows;
    bool ended = false;
  };
  FacetOperator(std::unique_ptr<Operator> input, std::vector<Branch> branches,
                const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  // Hands one batch of the input to every branch.
  absl::StatusOr<Step> Feed();
  // Runs a branch as far as its input goes.
  absl::Status Drain(Branch& branch);
  absl::StatusOr<bson::Document> Result() const;

  std::unique_ptr<Operator> input_;
  std::vector<Branch> branches_;
  const size_t bytes_max_;
  size_t held_bytes_ = 0;
  bool fed_ = false;
  bool done_ = false;
  Batch batch_;
};

}  // namespace evenkeel::query
