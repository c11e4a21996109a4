// Accumulators as expressions, over the arguments or the elements of a single array: $avg, $max,
// $min, $stdDev*, $sum.
#include "base/bson/compare.h"
#include "query/accum/moments.h"
#include "query/expr/groups.h"
#include "query/expr/running_sum.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

// Calls `fn` for what the operator works on: the elements when the only argument is an array, else
// the arguments.
template <typename Fn>
void ForEachInput(const Call& call, Fn fn) {
  if (call.args.size() == 1 && call.args[0].Is(Type::kArray)) {
    for (const bson::Element& element : call.args[0].AsDocument()) fn(element.value);
  } else {
    for (const bson::Value& value : call.args) fn(value);
  }
}

absl::StatusOr<bson::Value> EvalSum(const Call& call) {
  RunningSum sum;
  ForEachInput(call, [&sum](bson::Value value) {
    if (value.IsNumber()) sum.Add(value);
  });
  return sum.Result(call.arena());
}

absl::StatusOr<bson::Value> EvalAvg(const Call& call) {
  RunningSum sum;
  int64_t count = 0;
  ForEachInput(call, [&](bson::Value value) {
    if (!value.IsNumber()) return;
    sum.Add(value);
    ++count;
  });
  if (count == 0) return NullValue();
  return call.arena().Number(sum.Average(count));
}

absl::StatusOr<bson::Value> Extreme(const Call& call, int sign) {
  bson::Value best;
  ForEachInput(call, [&](bson::Value value) {
    if (value.IsNullish()) return;
    if (best.missing() || sign * bson::Compare(value, best, call.evaluation.collation()) > 0) {
      best = value;
    }
  });
  return best.missing() ? NullValue() : best;
}

absl::StatusOr<bson::Value> EvalMax(const Call& call) { return Extreme(call, 1); }
absl::StatusOr<bson::Value> EvalMin(const Call& call) { return Extreme(call, -1); }

absl::StatusOr<bson::Value> Deviation(const Call& call, bool sample) {
  accum::Moments moments;
  ForEachInput(call, [&moments](bson::Value value) {
    if (value.IsNumber()) moments.Add(bson::ToDouble(value));
  });
  const std::optional<double> deviation = moments.Deviation(sample);
  return deviation ? call.arena().Double(*deviation) : NullValue();
}

absl::StatusOr<bson::Value> EvalStdDevPop(const Call& call) { return Deviation(call, false); }
absl::StatusOr<bson::Value> EvalStdDevSamp(const Call& call) { return Deviation(call, true); }

constexpr ExprOp Variadic(std::string_view name, EvalFn eval, std::string_view spec,
                          std::string_view tests) {
  return {.name = name,
          .arity = Arity::AtLeast(0),
          .parse = ParseArguments,
          .eval = eval,
          .spec = spec,
          .tests = tests};
}

constexpr ExprOp kRows[] = {
    Variadic("$avg", EvalAvg, "operator/aggregation/avg", "expressions/accumulator/avg"),
    Variadic("$max", EvalMax, "operator/aggregation/max", "expressions/accumulator/max"),
    Variadic("$min", EvalMin, "operator/aggregation/min", "expressions/accumulator/min"),
    Variadic("$stdDevPop", EvalStdDevPop, "operator/aggregation/stdDevPop",
             "expressions/accumulator/stdDevPop"),
    Variadic("$stdDevSamp", EvalStdDevSamp, "operator/aggregation/stdDevSamp",
             "expressions/accumulator/stdDevSamp"),
    Variadic("$sum", EvalSum, "operator/aggregation/sum", "expressions/accumulator/sum"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> AccumulatorOps() { return kRows; }

}  // namespace evenkeel::query::expr
