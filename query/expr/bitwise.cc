// $bitAnd, $bitNot, $bitOr, $bitXor over int and long.
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

bool IsInteger(bson::Value value) { return value.Is(Type::kInt32) || value.Is(Type::kInt64); }

int64_t IntegerOf(bson::Value value) {
  return value.Is(Type::kInt32) ? value.AsInt32() : value.AsInt64();
}

absl::Status Refuse(const Call& call, bson::Value value) {
  return WrongType(call, ErrorCode::kTypeMismatch, "only supports int and long operands", value);
}

// Combines all arguments; nothing gives `start`. An int64 among them makes the result one.
template <typename Op>
absl::StatusOr<bson::Value> Combine(const Call& call, int64_t start, Op op) {
  bool wide = false, null = false;
  int64_t result = start;
  for (const bson::Value& value : call.args) {
    if (value.IsNullish()) {
      null = true;
      continue;
    }
    if (!IsInteger(value)) return Refuse(call, value);
    wide = wide || value.Is(Type::kInt64);
    result = op(result, IntegerOf(value));
  }
  if (null) return NullValue();
  if (wide) return call.arena().Int64(result);
  return call.arena().Int32(static_cast<int32_t>(result));
}

absl::StatusOr<bson::Value> EvalBitAnd(const Call& call) {
  return Combine(call, -1, [](int64_t a, int64_t b) { return a & b; });
}
absl::StatusOr<bson::Value> EvalBitOr(const Call& call) {
  return Combine(call, 0, [](int64_t a, int64_t b) { return a | b; });
}
absl::StatusOr<bson::Value> EvalBitXor(const Call& call) {
  return Combine(call, 0, [](int64_t a, int64_t b) { return a ^ b; });
}

absl::StatusOr<bson::Value> EvalBitNot(const Call& call) {
  const bson::Value value = call.args[0];
  if (value.Is(Type::kInt32)) return call.arena().Int32(~value.AsInt32());
  if (value.Is(Type::kInt64)) return call.arena().Int64(~value.AsInt64());
  return Refuse(call, value);
}

constexpr ExprOp kRows[] = {
    {.name = "$bitAnd",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalBitAnd,
     .spec = "operator/aggregation/bitAnd",
     .tests = "expressions/bitwise"},
    {.name = "$bitNot",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalBitNot,
     .spec = "operator/aggregation/bitNot",
     .tests = "expressions/bitwise"},
    {.name = "$bitOr",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalBitOr,
     .spec = "operator/aggregation/bitOr",
     .tests = "expressions/bitwise"},
    {.name = "$bitXor",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalBitXor,
     .spec = "operator/aggregation/bitXor",
     .tests = "expressions/bitwise"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> BitwiseOps() { return kRows; }

}  // namespace evenkeel::query::expr
