// The states of several accumulators side by side, as one group or bucket has them.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "query/accum/accumulator.h"

namespace evenkeel::query::accum {

// A named result: one output field.
struct OutputField {
  std::string name;
  AccumSpec accumulator;
};

// One accumulator's state. Movable, destroyed with it.
class State {
 public:
  explicit State(const AccumOp& op)
      : op_(&op), memory_(static_cast<char*>(::operator new(op.state_bytes))) {}
  State(State&& other) noexcept = default;
  State& operator=(State&& other) = delete;
  ~State() {
    if (made_ && memory_ != nullptr) op_->destroy(memory_.get());
  }

  // Must be called once, first. Errors: of the argument.
  absl::Status Init(bson::Value argument) {
    made_ = true;
    return op_->init(memory_.get(), argument);
  }
  absl::Status Add(bson::Value value, AccumContext& context) {
    return op_->add(memory_.get(), value, context);
  }
  void Finish(bson::Builder& builder, std::string_view key) const {
    op_->finish(memory_.get(), builder, key);
  }

 private:
  struct Free {
    void operator()(char* bytes) const { ::operator delete(bytes); }
  };
  const AccumOp* op_;
  std::unique_ptr<char, Free> memory_;
  bool made_ = false;
};

// A fresh state for `spec`, its argument evaluated with `evaluation`'s document. Errors: of the
// argument.
absl::StatusOr<State> MakeState(const AccumSpec& spec, Evaluation& evaluation);

}  // namespace evenkeel::query::accum
