// $isNumber, $type.
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

absl::StatusOr<bson::Value> EvalIsNumber(const Call& call) {
  return BoolValue(call.args[0].IsNumber());
}

absl::StatusOr<bson::Value> EvalType(const Call& call) {
  return call.arena().String(TypeName(call.args[0].type()));
}

constexpr ExprOp kRows[] = {
    {.name = "$isNumber",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalIsNumber,
     .spec = "operator/aggregation/isNumber",
     .tests = "expressions/type/isNumber"},
    Unsupported("$subtype", "operator/aggregation/subtype", "expressions/type/subtype"),
    {.name = "$type",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalType,
     .spec = "operator/aggregation/type",
     .tests = "expressions/type/type"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> TypeOps() { return kRows; }

}  // namespace evenkeel::query::expr
