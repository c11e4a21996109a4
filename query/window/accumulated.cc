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

// The results of a partition, within the limit: those of $push grow with the square of the rows.
class Results {
 public:
  explicit Results(const QueryContext& context)
      : budget_(context, "$setWindowFields", context.memory.window) {}

  absl::Status Add(bson::OwnedValue value) {
    held_bytes_ += sizeof(value) + value.value().SizeBytes();
    if (budget_.Exceeded(held_bytes_)) return budget_.Refuse();
    values_.push_back(std::move(value));
    return absl::OkStatus();
  }
  // The last one again.
  absl::Status Repeat() { return Add(values_.back()); }
  bool empty() const { return values_.empty(); }
  Values Take() { return std::move(values_); }

 private:
  const MemoryBudget budget_;
  size_t held_bytes_ = 0;
  Values values_;
};

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
    bson::Document first;
    EVENKEEL_RETURN_IF_ERROR(partition.BeginFirst(&first));
    return accum::MakeState(spec_, partition.evaluation);
  }
  absl::Status AddRange(const Partition& partition, const Values& inputs, size_t begin, size_t end,
                        accum::State& state, accum::AccumContext& context) const {
    const QueryContext& query = partition.evaluation.query();
    const MemoryBudget budget(query, "$setWindowFields", query.memory.window);
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
    Results out(partition.evaluation.query());
    size_t end = 0;
    for (const Frame& frame : frames) {
      if (frame.end == end && !out.empty()) {
        EVENKEEL_RETURN_IF_ERROR(out.Repeat());
        continue;
      }
      EVENKEEL_RETURN_IF_ERROR(AddRange(partition, inputs, end, frame.end, state, context));
      end = frame.end;
      EVENKEEL_RETURN_IF_ERROR(out.Add(ResultOf(state)));
    }
    return out.Take();
  }
  absl::StatusOr<Values> Slide(const Partition& partition, const Values& inputs,
                               const std::vector<Frame>& frames) const {
    EVENKEEL_RETURN_IF_ERROR(Fresh(partition).status());  // checks the argument
    bson::Document first;
    EVENKEEL_RETURN_IF_ERROR(partition.BeginFirst(&first));
    bson::Value argument;
    if (spec_.argument != nullptr) {
      EVENKEEL_ASSIGN_OR_RETURN(argument, spec_.argument->Evaluate(partition.evaluation));
    }
    const auto state = spec_.op->sliding(argument, partition.evaluation.collation());
    Results out(partition.evaluation.query());
    size_t begin = 0, end = 0;
    for (const Frame& frame : frames) {
      for (; end < frame.end; ++end) state->Add(inputs[end]);
      for (; begin < frame.begin; ++begin) state->Remove(inputs[begin]);
      EVENKEEL_RETURN_IF_ERROR(out.Add(ResultOf(*state)));
    }
    return out.Take();
  }
  absl::StatusOr<Values> Anew(const Partition& partition, const Values& inputs,
                              const std::vector<Frame>& frames) const {
    Results out(partition.evaluation.query());
    for (size_t i = 0; i < frames.size(); ++i) {
      if (i > 0 && frames[i] == frames[i - 1]) {
        EVENKEEL_RETURN_IF_ERROR(out.Repeat());
        continue;
      }
      accum::AccumContext context = ContextOf(partition);
      EVENKEEL_ASSIGN_OR_RETURN(accum::State state, Fresh(partition));
      EVENKEEL_RETURN_IF_ERROR(
          AddRange(partition, inputs, frames[i].begin, frames[i].end, state, context));
      EVENKEEL_RETURN_IF_ERROR(out.Add(ResultOf(state)));
    }
    return out.Take();
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
