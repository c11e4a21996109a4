// $cmp, $eq, $gt, $gte, $lt, $lte, $ne over all types in MongoDB's comparison order.
#include "base/bson/compare.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

int CompareArgs(const Call& call) {
  return bson::Compare(call.args[0], call.args[1], call.evaluation.collation());
}

absl::StatusOr<bson::Value> EvalCmp(const Call& call) {
  const int order = CompareArgs(call);
  return call.arena().Int32(order < 0 ? -1 : order > 0 ? 1 : 0);
}

absl::StatusOr<bson::Value> EvalEq(const Call& call) { return BoolValue(CompareArgs(call) == 0); }
absl::StatusOr<bson::Value> EvalGt(const Call& call) { return BoolValue(CompareArgs(call) > 0); }
absl::StatusOr<bson::Value> EvalGte(const Call& call) { return BoolValue(CompareArgs(call) >= 0); }
absl::StatusOr<bson::Value> EvalLt(const Call& call) { return BoolValue(CompareArgs(call) < 0); }
absl::StatusOr<bson::Value> EvalLte(const Call& call) { return BoolValue(CompareArgs(call) <= 0); }
absl::StatusOr<bson::Value> EvalNe(const Call& call) { return BoolValue(CompareArgs(call) != 0); }

constexpr ExprOp Binary(std::string_view name, EvalFn eval, std::string_view spec,
                        std::string_view tests) {
  return {.name = name,
          .arity = Arity::Exactly(2),
          .parse = ParseArguments,
          .eval = eval,
          .spec = spec,
          .tests = tests};
}

constexpr ExprOp kRows[] = {
    Binary("$cmp", EvalCmp, "operator/aggregation/cmp", "expressions/comparisons/cmp"),
    Binary("$eq", EvalEq, "operator/aggregation/eq", "expressions/comparisons/eq"),
    Binary("$gt", EvalGt, "operator/aggregation/gt", "expressions/comparisons/gt"),
    Binary("$gte", EvalGte, "operator/aggregation/gte", "expressions/comparisons/gte"),
    Binary("$lt", EvalLt, "operator/aggregation/lt", "expressions/comparisons/lt"),
    Binary("$lte", EvalLte, "operator/aggregation/lte", "expressions/comparisons/lte"),
    Binary("$ne", EvalNe, "operator/aggregation/ne", "expressions/comparisons/ne"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ComparisonOps() { return kRows; }

}  // namespace evenkeel::query::expr
