// $let, $literal and its other name $const.
#include "query/expr/groups.h"
#include "query/expr/nodes.h"

namespace evenkeel::query::expr {
namespace {

// Children: the values of the variables, then the expression that uses them.
class LetNode final : public FormNode {
 public:
  LetNode(std::vector<ExpressionPtr> children, std::vector<VariableSlot> slots)
      : FormNode(std::move(children)), slots_(std::move(slots)) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    // All are evaluated before any is set: none sees another of the same $let.
    absl::InlinedVector<bson::Value, 4> values;
    for (size_t at = 0; at < slots_.size(); ++at) {
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, EvaluateChild(at, evaluation));
      values.push_back(value);
    }
    for (size_t at = 0; at < slots_.size(); ++at) evaluation.SetVariable(slots_[at], values[at]);
    return EvaluateChild(slots_.size(), evaluation);
  }

 private:
  std::vector<VariableSlot> slots_;
};

absl::StatusOr<ExpressionPtr> ParseLet(const ExprOp&, bson::Value args, ParseScope& scope) {
  if (!args.Is(bson::Type::kObject)) {
    return Error(Location(16874), "$let only supports an object as its argument");
  }
  bson::Value vars, in;
  for (const auto& [key, value] : args.AsDocument()) {
    if (key == "vars") {
      vars = value;
    } else if (key == "in") {
      in = value;
    } else {
      return Error(Location(16875), "Unrecognized parameter to $let: {}", key);
    }
  }
  if (vars.missing()) return Error(Location(16876), "Missing 'vars' parameter to $let");
  if (in.missing()) return Error(Location(16877), "Missing 'in' parameter to $let");
  if (!vars.Is(bson::Type::kObject) && !vars.Is(bson::Type::kArray)) {
    return Error(Location(10065), "invalid parameter: expected an object (vars)");
  }
  std::vector<ExpressionPtr> children;
  for (const auto& [name, value] : vars.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(CheckVariableName(name));
    EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr parsed, Expression::Parse(value, scope));
    children.push_back(std::move(parsed));
  }
  const ParseScope::Frame frame(scope);
  std::vector<VariableSlot> slots;
  for (const bson::Element& var : vars.AsDocument()) slots.push_back(scope.Define(var.key));
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr body, Expression::Parse(in, scope));
  children.push_back(std::move(body));
  return MakeForm<LetNode>(std::move(children), scope.context(), std::move(slots));
}

absl::StatusOr<ExpressionPtr> ParseLiteral(const ExprOp&, bson::Value args, ParseScope&) {
  return MakeConstant(args);
}

constexpr ExprOp kRows[] = {
    {.name = "$const",
     .parse = ParseLiteral,
     .spec = "operator/aggregation/literal",
     .tests = "expressions/literal"},
    {.name = "$let",
     .parse = ParseLet,
     .spec = "operator/aggregation/let",
     .tests = "expressions/variable/let"},
    {.name = "$literal",
     .parse = ParseLiteral,
     .spec = "operator/aggregation/literal",
     .tests = "expressions/literal"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> VariableOps() { return kRows; }

}  // namespace evenkeel::query::expr
