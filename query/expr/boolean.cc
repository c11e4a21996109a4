// $and, $not, $or. $and and $or evaluate from the left and stop as soon as the result is known.
#include "query/expr/groups.h"
#include "query/expr/nodes.h"

namespace evenkeel::query::expr {
namespace {

// $and stops at the first false value, $or at the first true one.
class AndOrNode final : public FormNode {
 public:
  AndOrNode(std::vector<ExpressionPtr> children, bool stop_at)
      : FormNode(std::move(children)), stop_at_(stop_at) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    for (const ExpressionPtr& child : children_) {
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, child->Evaluate(evaluation));
      if (bson::Truthy(value) == stop_at_) return BoolValue(stop_at_);
    }
    return BoolValue(!stop_at_);
  }

 private:
  bool stop_at_;
};

absl::StatusOr<ExpressionPtr> ParseAndOr(const ExprOp& op, bson::Value args, ParseScope& scope) {
  const bool stop_at = op.name == "$or";
  EVENKEEL_ASSIGN_OR_RETURN(auto children, ParseArgumentList(op, args, scope));
  if (!children.empty()) {
    // A constant at the end that decides makes the rest irrelevant, errors included.
    const std::optional<bson::Value> last = children.back()->Constant();
    if (last && bson::Truthy(*last) == stop_at) return MakeConstant(BoolValue(stop_at));
  }
  return MakeForm<AndOrNode>(std::move(children), scope.context(), stop_at);
}

absl::StatusOr<bson::Value> EvalNot(const Call& call) {
  return BoolValue(!bson::Truthy(call.args[0]));
}

constexpr ExprOp kRows[] = {
    {.name = "$and",
     .arity = Arity::AtLeast(0),
     .parse = ParseAndOr,
     .spec = "operator/aggregation/and",
     .tests = "expressions/boolean/and"},
    {.name = "$not",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalNot,
     .spec = "operator/aggregation/not",
     .tests = "expressions/boolean/not"},
    {.name = "$or",
     .arity = Arity::AtLeast(0),
     .parse = ParseAndOr,
     .spec = "operator/aggregation/or",
     .tests = "expressions/boolean/or"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> BooleanOps() { return kRows; }

}  // namespace evenkeel::query::expr
