// Accumulators over frames: growing, sliding, or anew for each frame.
#include "query/accum/states.h"
#include "query/accum/table.h"
#include "query/exec/memory_budget.h"
#include "query/window/function.h"

namespace evenkeel::query::window {
namespace {

using Values = std::vector<bson::OwnedValue>;

template <typename State>
bson::OwnedValue ResultOf(const State& state) {
  bson::Builder builder;
  state.Finish(builder, "r");
  const bson::Document document = builder.Finish();
  return bson::OwnedValue(document["r"]);
}

class AccumulatedFunction final : public WindowFunction {
 public:
  AccumulatedFunction(accum::AccumSpec spec, Bounds bounds)
      : spec_(std::move(spec)), bounds_(std::move(bounds)) {}

  absl::StatusOr<Values> Compute(const Partition& partition) const override {
    if (partition.size() == 0) return Values();
    EVENKEEL_ASSIGN_OR_RETURN(const Values inputs, partition.Evaluate(*spec_.input));
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<Frame> frames, FramesOf(bounds_, partition));
    if (bounds_.lower.unbounded) return Grow(partition, inputs, frames);
    if (spec_.op->sliding != nullptr) return Slide(partition, inputs, frames);
    return Anew(partition, inputs, frames);
  }

 private:
  absl::StatusOr<accum::State> Fresh(const Partition& partition) const {
    partition.evaluation.Begin(partition.rows.front().view);
    return accum::MakeState(spec_, partition.evaluation);
  }
  absl::Status AddRange(const Partition& partition, const Values& inputs, size_t begin, size_t end,
                        accum::State& state, accum::AccumContext& context) const {
    const MemoryBudget budget(partition.evaluation.query(), "$setWindowFields");
    for (size_t i = begin; i < end; ++i) {
      EVENKEEL_RETURN_IF_ERROR(state.Add(inputs[i], context));
      if (budget.Exceeded(context.memory_bytes)) return budget.Refuse();
    }
    return absl::OkStatus();
  }
  accum::AccumContext ContextOf(const Partition& partition) const {
    accum::AccumContext context;
    context.collation = partition.evaluation.collation();
    return context;
  }
  // Frames that begin with the partition: values are only added.
  absl::StatusOr<Values> Grow(const Partition& partition, const Values& inputs,
                              const std::vector<Frame>& frames) const {
    accum::AccumContext context = ContextOf(partition);
    EVENKEEL_ASSIGN_OR_RETURN(accum::State state, Fresh(partition));
    Values out;
    size_t end = 0;
    for (const Frame& frame : frames) {
      if (frame.end == end && !out.empty()) {
        out.push_back(out.back());
        continue;
      }
      EVENKEEL_RETURN_IF_ERROR(AddRange(partition, inputs, end, frame.end, state, context));
      end = frame.end;
      out.push_back(ResultOf(state));
    }
    return out;
  }
  absl::StatusOr<Values> Slide(const Partition& partition, const Values& inputs,
                               const std::vector<Frame>& frames) const {
    EVENKEEL_RETURN_IF_ERROR(Fresh(partition).status());  // checks the argument
    partition.evaluation.Begin(partition.rows.front().view);
    bson::Value argument;
    if (spec_.argument != nullptr) {
      EVENKEEL_ASSIGN_OR_RETURN(argument, spec_.argument->Evaluate(partition.evaluation));
    }
    const auto state = spec_.op->sliding(argument, partition.evaluation.collation());
    Values out;
    size_t begin = 0, end = 0;
    for (const Frame& frame : frames) {
      for (; end < frame.end; ++end) state->Add(inputs[end]);
      for (; begin < frame.begin; ++begin) state->Remove(inputs[begin]);
      out.push_back(ResultOf(*state));
    }
    return out;
  }
  absl::StatusOr<Values> Anew(const Partition& partition, const Values& inputs,
                              const std::vector<Frame>& frames) const {
    Values out;
    for (size_t i = 0; i < frames.size(); ++i) {
      if (i > 0 && frames[i] == frames[i - 1]) {
        out.push_back(out.back());
        continue;
      }
      accum::AccumContext context = ContextOf(partition);
      EVENKEEL_ASSIGN_OR_RETURN(accum::State state, Fresh(partition));
      EVENKEEL_RETURN_IF_ERROR(
          AddRange(partition, inputs, frames[i].begin, frames[i].end, state, context));
      out.push_back(ResultOf(state));
    }
    return out;
  }

  accum::AccumSpec spec_;
  Bounds bounds_;
};

}  // namespace

absl::StatusOr<FunctionPtr> ParseAccumulated(const FunctionCall& call) {
  Bounds bounds;
  if (!call.window.missing()) {
    EVENKEEL_ASSIGN_OR_RETURN(bounds, ParseBounds(call.window));
    EVENKEEL_RETURN_IF_ERROR(CheckSort(bounds, call.sort));
  }
  EVENKEEL_ASSIGN_OR_RETURN(accum::AccumSpec spec,
                            accum::ParseWindowAccumulator(call.name, call.args, call.scope));
  return std::make_unique<AccumulatedFunction>(std::move(spec), std::move(bounds));
}

}  // namespace evenkeel::query::window
