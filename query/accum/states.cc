// Making of states.
#include "query/accum/states.h"

#include "base/status.h"

namespace evenkeel::query::accum {

absl::StatusOr<State> MakeState(const AccumSpec& spec, Evaluation& evaluation) {
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kStateAlignment);
  bson::Value argument;
  if (spec.argument != nullptr) {
    EVENKEEL_ASSIGN_OR_RETURN(argument, spec.argument->Evaluate(evaluation));
  }
  State state(*spec.op);
  EVENKEEL_RETURN_IF_ERROR(state.Init(argument));
  return state;
}

}  // namespace evenkeel::query::accum
