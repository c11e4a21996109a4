// $redact.
#include "query/exec/redact.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

class RedactStage final : public Stage {
 public:
  RedactStage(const StageOp& op, bson::Value spec, ExpressionPtr rule, VariableSlot current)
      : Stage(op, spec), rule_(std::move(rule)), current_(current) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<RedactOperator>(std::move(input), *rule_, current_, context);
  }

 private:
  ExpressionPtr rule_;
  VariableSlot current_;
};

absl::Status ParseRedact(const StageOp& op, bson::Value spec, const QueryContext& context,
                         StageList* out) {
  ParseScope scope(context);
  const VariableSlot current = scope.Define("CURRENT");
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr rule, Expression::Parse(spec, scope));
  return AddStage<RedactStage>(out, op, spec, std::move(rule), current);
}

constexpr StageOp kRows[] = {
    {.name = "$redact",
     .parse = ParseRedact,
     .spec = "operator/aggregation/redact",
     .tests = "stages/redact"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> RedactStages() { return kRows; }

}  // namespace evenkeel::query::stage
