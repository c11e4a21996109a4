// $count: the number of rows, alone or in two halves.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "query/exec/operator.h"

namespace evenkeel::query {

// Gives {name: count}, or nothing when there are no rows. With `of_counts` the input's rows are
// such documents of shards and their numbers are added up.
class CountOperator final : public Operator {
 public:
  CountOperator(std::unique_ptr<Operator> input, std::string name, bool of_counts)
      : input_(std::move(input)), name_(std::move(name)), of_counts_(of_counts) {}
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  std::unique_ptr<Operator> input_;
  std::string name_;
  bool of_counts_;
  int64_t count_ = 0;
  bool done_ = false;
  Batch batch_;
};

}  // namespace evenkeel::query
