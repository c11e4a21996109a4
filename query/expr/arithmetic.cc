// $abs, $add, $divide, $mod, $multiply, $subtract: sums and products over the four number types and
// dates.
#include <cmath>

#include "base/bson/decimal.h"
#include "query/expr/groups.h"
#include "query/expr/running_sum.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

bool IsInteger(bson::Value value) { return value.Is(Type::kInt32) || value.Is(Type::kInt64); }

int64_t IntegerOf(bson::Value value) {
  return value.Is(Type::kInt32) ? value.AsInt32() : value.AsInt64();
}

bson::Decimal128Bits DecimalOf(bson::Value value) {
  if (value.Is(Type::kDecimal128)) return value.AsDecimal128();
  if (value.Is(Type::kDouble)) return bson::DecimalFromDouble(value.AsDouble());
  return bson::DecimalFromInt64(IntegerOf(value));
}

// An int32 when both operands were and the result fits, an int64 otherwise.
bson::Value IntegerResult(const Call& call, bson::Value a, bson::Value b, int64_t result) {
  const bool narrow = a.Is(Type::kInt32) && b.Is(Type::kInt32);
  if (narrow && result >= INT32_MIN && result <= INT32_MAX) {
    return call.arena().Int32(static_cast<int32_t>(result));
  }
  return call.arena().Int64(result);
}

absl::StatusOr<bson::Value> EvalAbs(const Call& call) {
  const bson::Value value = call.args[0];
  switch (value.type()) {
    case Type::kInt32: {
      const int64_t magnitude = std::abs(int64_t{value.AsInt32()});
      if (magnitude > INT32_MAX) return call.arena().Int64(magnitude);
      return call.arena().Int32(static_cast<int32_t>(magnitude));
    }
    case Type::kInt64:
      if (value.AsInt64() == INT64_MIN) {
        return Error(Location(28680), "can't take $abs of long long min");
      }
      return call.arena().Int64(std::abs(value.AsInt64()));
    case Type::kDouble:
      return call.arena().Double(std::fabs(value.AsDouble()));
    case Type::kDecimal128:
      return call.arena().Decimal(
          bson::DecimalApply(bson::DecimalFunction::kAbsolute, value.AsDecimal128()));
    default:
      return WrongType(call, Location(28765), "only supports numeric types", value);
  }
}

absl::StatusOr<bson::Value> EvalAdd(const Call& call) {
  RunningSum sum;
  const bson::Value* date = nullptr;
  for (const bson::Value& value : call.args) {
    if (value.IsNumber()) {
      sum.Add(value);
    } else if (value.IsNullish()) {
      return NullValue();
    } else if (value.Is(Type::kDate)) {
      if (date != nullptr) {
        return Error(Location(16612), "only one date allowed in an $add expression");
      }
      date = &value;
    } else {
      return WrongType(call, ErrorCode::kTypeMismatch, "only supports numeric or date types",
                       value);
    }
  }
  if (date == nullptr) return sum.Result(call.arena());
  const std::optional<int64_t> shift = sum.AsMilliseconds();
  int64_t moved = 0;
  if (!shift || __builtin_add_overflow(date->AsDateMillis(), *shift, &moved)) {
    return Error(ErrorCode::kOverflow, "date overflow in $add");
  }
  return call.arena().Date(moved);
}

absl::StatusOr<bson::Value> SubtractFromDate(const Call& call, bson::Value date, bson::Value b) {
  int64_t result = 0;
  if (b.Is(Type::kDate)) {
    if (__builtin_sub_overflow(date.AsDateMillis(), b.AsDateMillis(), &result)) {
      return Error(ErrorCode::kOverflow, "date overflow in $subtract");
    }
    return call.arena().Int64(result);
  }
  RunningSum shift;
  shift.Add(b);
  const std::optional<int64_t> milliseconds = shift.AsMilliseconds();
  if (!milliseconds || __builtin_sub_overflow(date.AsDateMillis(), *milliseconds, &result)) {
    return Error(ErrorCode::kOverflow, "date overflow in $subtract");
  }
  return call.arena().Date(result);
}

absl::StatusOr<bson::Value> EvalSubtract(const Call& call) {
  const bson::Value a = call.args[0];
  const bson::Value b = call.args[1];
  if (a.Is(Type::kDate) && (b.Is(Type::kDate) || b.IsNumber())) return SubtractFromDate(call, a, b);
  if (!a.IsNumber() || !b.IsNumber()) {
    return Error(ErrorCode::kTypeMismatch, "can't $subtract {} from {}", TypeName(b.type()),
                 TypeName(a.type()));
  }
  EvalArena& arena = call.arena();
  if (a.Is(Type::kDecimal128) || b.Is(Type::kDecimal128)) {
    return arena.Decimal(bson::DecimalSubtract(DecimalOf(a), DecimalOf(b)));
  }
  int64_t result = 0;
  if (a.Is(Type::kDouble) || b.Is(Type::kDouble) ||
      __builtin_sub_overflow(IntegerOf(a), IntegerOf(b), &result)) {
    return arena.Double(bson::ToDouble(a) - bson::ToDouble(b));
  }
  return IntegerResult(call, a, b, result);
}

absl::StatusOr<bson::Value> EvalMultiply(const Call& call) {
  bson::Number product = bson::Number::Int32(1);
  bool wide = false;  // an int64 took part: an integer result stays one
  for (const bson::Value& value : call.args) {
    if (value.IsNullish()) return NullValue();
    if (!value.IsNumber()) {
      return WrongType(call, ErrorCode::kTypeMismatch, "only supports numeric types", value);
    }
    wide = wide || value.Is(Type::kInt64);
    product = bson::Multiply(product, bson::Number::From(value));
  }
  const bool fits = product.integer >= INT32_MIN && product.integer <= INT32_MAX;
  if (product.type == Type::kInt64 && !wide && fits) {
    return call.arena().Int32(static_cast<int32_t>(product.integer));
  }
  return call.arena().Number(product);
}

absl::Status DivisionByZero(const Call& call) {
  const bool in_group = call.evaluation.in_group();
  return Error(in_group ? Location(4848401) : ErrorCode::kBadValue, "can't $divide by zero");
}

absl::StatusOr<bson::Value> EvalDivide(const Call& call) {
  const bson::Value a = call.args[0];
  const bson::Value b = call.args[1];
  if (!a.IsNumber() || !b.IsNumber()) {
    return Error(ErrorCode::kTypeMismatch, "$divide only supports numeric types, not {} and {}",
                 TypeName(a.type()), TypeName(b.type()));
  }
  if (a.Is(Type::kDecimal128) || b.Is(Type::kDecimal128)) {
    const bson::Decimal128Bits divisor = DecimalOf(b);
    if (bson::DecimalIsZero(divisor)) return DivisionByZero(call);
    return call.arena().Decimal(bson::DecimalDivide(DecimalOf(a), divisor));
  }
  const double divisor = bson::ToDouble(b);
  if (divisor == 0) return DivisionByZero(call);
  return call.arena().Double(bson::ToDouble(a) / divisor);
}

absl::StatusOr<bson::Value> EvalMod(const Call& call) {
  const bson::Value a = call.args[0];
  const bson::Value b = call.args[1];
  if (!a.IsNumber() || !b.IsNumber()) {
    return Error(Location(16611), "$mod only supports numeric types, not {} and {}",
                 TypeName(a.type()), TypeName(b.type()));
  }
  const auto by_zero = [&call] {
    return Error(Location(call.evaluation.in_group() ? 4848403 : 16610), "can't $mod by zero");
  };
  if (a.Is(Type::kDecimal128) || b.Is(Type::kDecimal128)) {
    const bson::Decimal128Bits divisor = DecimalOf(b);
    if (bson::DecimalIsZero(divisor)) return by_zero();
    return call.arena().Decimal(bson::DecimalModulo(DecimalOf(a), divisor));
  }
  if (bson::ToDouble(b) == 0) return by_zero();
  if (!IsInteger(a) || !IsInteger(b)) {
    return call.arena().Double(std::fmod(bson::ToDouble(a), bson::ToDouble(b)));
  }
  const int64_t divisor = IntegerOf(b);
  return IntegerResult(call, a, b, divisor == -1 ? 0 : IntegerOf(a) % divisor);
}

constexpr ExprOp kRows[] = {
    {.name = "$abs",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalAbs,
     .spec = "operator/aggregation/abs",
     .tests = "expressions/arithmetic/abs"},
    {.name = "$add",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalAdd,
     .spec = "operator/aggregation/add",
     .tests = "expressions/arithmetic/add"},
    {.name = "$divide",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalDivide,
     .spec = "operator/aggregation/divide",
     .tests = "expressions/arithmetic/divide"},
    {.name = "$mod",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalMod,
     .spec = "operator/aggregation/mod",
     .tests = "expressions/arithmetic/mod"},
    {.name = "$multiply",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalMultiply,
     .spec = "operator/aggregation/multiply",
     .tests = "expressions/arithmetic/multiply"},
    {.name = "$subtract",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalSubtract,
     .spec = "operator/aggregation/subtract",
     .tests = "expressions/arithmetic/subtract"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ArithmeticOps() { return kRows; }

}  // namespace evenkeel::query::expr
