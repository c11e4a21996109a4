// $isNumber, $subtype, $type.
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

absl::StatusOr<bson::Value> EvalIsNumber(const Call& call) {
  return BoolValue(call.args[0].IsNumber());
}

absl::StatusOr<bson::Value> EvalSubtype(const Call& call) {
  if (!call.args[0].Is(bson::Type::kBinary)) {
    return WrongType(call, Location(10389300), "requires a binData argument", call.args[0]);
  }
  return call.arena().Int32(call.args[0].AsBinary().subtype);
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
    {.name = "$subtype",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalSubtype,
     .spec = "operator/aggregation/subtype",
     .tests = "expressions/type/subtype"},
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
