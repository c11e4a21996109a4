// $tsIncrement, $tsSecond: the two halves of a timestamp.
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

absl::Status CheckTimestamp(const Call& call, int code) {
  if (call.args[0].Is(bson::Type::kTimestamp)) return absl::OkStatus();
  return WrongType(call, Location(code), "requires a timestamp argument", call.args[0]);
}

absl::StatusOr<bson::Value> EvalTsIncrement(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckTimestamp(call, 5687302));
  return call.arena().Int64(call.args[0].AsTimestamp().increment());
}

absl::StatusOr<bson::Value> EvalTsSecond(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckTimestamp(call, 5687301));
  return call.arena().Int64(call.args[0].AsTimestamp().seconds());
}

constexpr ExprOp kRows[] = {
    {.name = "$tsIncrement",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalTsIncrement,
     .spec = "operator/aggregation/tsIncrement",
     .tests = "expressions/timestamp"},
    {.name = "$tsSecond",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalTsSecond,
     .spec = "operator/aggregation/tsSecond",
     .tests = "expressions/timestamp"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> TimestampOps() { return kRows; }

}  // namespace evenkeel::query::expr
