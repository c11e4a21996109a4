// $unionWith: the rows of the input, then those of another collection's pipeline.
#pragma once

#include <memory>
#include <string>

#include "query/context.h"
#include "query/exec/foreign.h"
#include "query/exec/operator.h"

namespace evenkeel::query {

struct UnionSpec {
  std::string ns;
  bson::Document pipeline;  // an array
};

// `spec` and `context`, which has foreign reads, outlive the operator.
class UnionOperator final : public Operator {
 public:
  UnionOperator(std::unique_ptr<Operator> input, const UnionSpec& spec, const QueryContext& context)
      : input_(std::move(input)), spec_(spec), context_(context) {}
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  std::unique_ptr<Operator> input_;
  const UnionSpec& spec_;
  const QueryContext& context_;
  ForeignReadPtr read_;  // set when the input has ended
};

}  // namespace evenkeel::query
