// $exp, $ln, $log, $log10, $pow, $sigmoid, $sqrt.
#include <cmath>

#include "base/bson/decimal.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

using bson::DecimalFunction;
using bson::Type;

bool IsInteger(bson::Value value) { return value.Is(Type::kInt32) || value.Is(Type::kInt64); }

bson::Decimal128Bits DecimalOf(bson::Value value) {
  if (value.Is(Type::kDecimal128)) return value.AsDecimal128();
  if (value.Is(Type::kDouble)) return bson::DecimalFromDouble(value.AsDouble());
  return bson::DecimalFromInt64(bson::ToInt64Truncated(value));
}

bool IsNaN(bson::Value value) {
  if (value.Is(Type::kDecimal128)) return bson::DecimalIsNaN(value.AsDecimal128());
  return value.Is(Type::kDouble) && std::isnan(value.AsDouble());
}

// -1, 0 or 1; exact where a decimal is too small for a double.
int SignOf(bson::Value value) {
  if (value.Is(Type::kDecimal128)) {
    const bson::Decimal128Bits bits = value.AsDecimal128();
    if (bson::DecimalIsZero(bits)) return 0;
    return bson::DecimalIsNegative(bits) ? -1 : 1;
  }
  const double real = bson::ToDouble(value);
  return real < 0 ? -1 : real > 0 ? 1 : 0;
}

// True for numbers above zero; NaN passes, as its result is NaN.
bool IsPositive(bson::Value value) { return IsNaN(value) || SignOf(value) > 0; }

absl::StatusOr<bson::Value> ApplyUnary(const Call& call, double (*of_double)(double),
                                       DecimalFunction of_decimal) {
  const bson::Value value = call.args[0];
  if (value.Is(Type::kDecimal128)) {
    return call.arena().Decimal(bson::DecimalApply(of_decimal, value.AsDecimal128()));
  }
  return call.arena().Double(of_double(bson::ToDouble(value)));
}

absl::Status CheckNumber(const Call& call, size_t arg, ErrorCode code) {
  if (call.args[arg].IsNumber()) return absl::OkStatus();
  return WrongType(call, code, "only supports numeric types", call.args[arg]);
}

absl::StatusOr<bson::Value> EvalExp(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 0, Location(28765)));
  return ApplyUnary(call, std::exp, DecimalFunction::kExp);
}

absl::StatusOr<bson::Value> EvalLn(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 0, Location(28765)));
  if (!IsPositive(call.args[0])) {
    return Error(Location(28766), "$ln's argument must be a positive number");
  }
  return ApplyUnary(call, std::log, DecimalFunction::kLn);
}

absl::StatusOr<bson::Value> EvalLog10(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 0, Location(28765)));
  if (!IsPositive(call.args[0])) {
    return Error(Location(28761), "$log10's argument must be a positive number");
  }
  return ApplyUnary(call, std::log10, DecimalFunction::kLog10);
}

absl::StatusOr<bson::Value> EvalLog(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 0, Location(28756)));
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 1, Location(28757)));
  const bson::Value value = call.args[0];
  const bson::Value base = call.args[1];
  if (!IsPositive(value)) {
    return Error(Location(28758), "$log's argument must be a positive number");
  }
  if (!IsPositive(base) || bson::ToDouble(base) == 1) {
    return Error(Location(28759), "$log's base must be a positive number not equal to 1");
  }
  if (value.Is(Type::kDecimal128) || base.Is(Type::kDecimal128)) {
    return call.arena().Decimal(
        bson::DecimalDivide(bson::DecimalApply(DecimalFunction::kLn, DecimalOf(value)),
                            bson::DecimalApply(DecimalFunction::kLn, DecimalOf(base))));
  }
  return call.arena().Double(std::log(bson::ToDouble(value)) / std::log(bson::ToDouble(base)));
}

// base^exponent when that is an int64.
std::optional<int64_t> IntegerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    // 1 / base^n is whole only for 1 and -1.
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return std::nullopt;
  }
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  if (exponent > 63) return std::nullopt;
  int64_t result = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

// The power in the form that MongoDB shows: all 34 digits, and zero with the lowest exponent.
bson::Decimal128Bits RecordedPower(bson::Decimal128Bits base, bson::Decimal128Bits exponent) {
  const bson::Decimal128Bits power = bson::DecimalPower(base, exponent);
  bson::DecimalParts parts = bson::DecodeDecimal(power);
  if (parts.kind != bson::DecimalParts::Kind::kFinite || bson::DecimalIsZero(exponent))
    return power;
  if (parts.coefficient == 0) {
    return bson::EncodeDecimal({.exponent = bson::kDecimalExponentMin});
  }
  const bson::Uint128 full = bson::PowerOfTen(bson::kDecimalDigitsMax - 1);
  while (parts.coefficient < full && parts.exponent > bson::kDecimalExponentMin) {
    parts.coefficient *= 10;
    --parts.exponent;
  }
  return bson::EncodeDecimal(parts);
}

absl::StatusOr<bson::Value> EvalPow(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 0, Location(28762)));
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 1, Location(28763)));
  const bson::Value base = call.args[0];
  const bson::Value exponent = call.args[1];
  if (!IsNaN(base) && SignOf(base) == 0 && !IsNaN(exponent) && SignOf(exponent) < 0) {
    return Error(Location(28764), "$pow cannot take a base of 0 and a negative exponent");
  }
  EvalArena& arena = call.arena();
  if (base.Is(Type::kDecimal128) || exponent.Is(Type::kDecimal128)) {
    return arena.Decimal(RecordedPower(DecimalOf(base), DecimalOf(exponent)));
  }
  if (IsInteger(base) && IsInteger(exponent)) {
    const std::optional<int64_t> power =
        IntegerPower(bson::ToInt64Truncated(base), bson::ToInt64Truncated(exponent));
    const bool narrow = base.Is(Type::kInt32) && exponent.Is(Type::kInt32);
    if (power && narrow && *power >= INT32_MIN && *power <= INT32_MAX) {
      return arena.Int32(static_cast<int32_t>(*power));
    }
    if (power) return arena.Int64(*power);
  }
  return arena.Double(std::pow(bson::ToDouble(base), bson::ToDouble(exponent)));
}

absl::StatusOr<bson::Value> EvalSigmoid(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 0, ErrorCode::kTypeMismatch));
  const bson::Value value = call.args[0];
  if (value.Is(Type::kDecimal128)) {
    const bson::Decimal128Bits one = bson::DecimalFromInt64(1);
    const bson::Decimal128Bits power =
        bson::DecimalApply(DecimalFunction::kExp, Negate(value.AsDecimal128()));
    return call.arena().Decimal(bson::DecimalDivide(one, bson::DecimalAdd(one, power)));
  }
  return call.arena().Double(1 / (1 + std::exp(-bson::ToDouble(value))));
}

absl::StatusOr<bson::Value> EvalSqrt(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckNumber(call, 0, Location(28765)));
  if (!IsNaN(call.args[0]) && SignOf(call.args[0]) < 0) {
    return Error(Location(28714), "$sqrt's argument must be greater than or equal to 0");
  }
  return ApplyUnary(call, std::sqrt, DecimalFunction::kSqrt);
}

constexpr ExprOp kRows[] = {
    {.name = "$exp",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalExp,
     .spec = "operator/aggregation/exp",
     .tests = "expressions/arithmetic/exp"},
    {.name = "$ln",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalLn,
     .spec = "operator/aggregation/ln",
     .tests = "expressions/arithmetic/ln"},
    {.name = "$log",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalLog,
     .spec = "operator/aggregation/log",
     .tests = "expressions/arithmetic/log"},
    {.name = "$log10",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalLog10,
     .spec = "operator/aggregation/log10",
     .tests = "expressions/arithmetic/log10"},
    {.name = "$pow",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalPow,
     .spec = "operator/aggregation/pow",
     .tests = "expressions/arithmetic/pow"},
    {.name = "$sigmoid",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalSigmoid,
     .spec = "operator/aggregation/sigmoid",
     .tests = "expressions/arithmetic/sigmoid"},
    {.name = "$sqrt",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalSqrt,
     .spec = "operator/aggregation/sqrt",
     .tests = "expressions/arithmetic/sqrt"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ExponentOps() { return kRows; }

}  // namespace evenkeel::query::expr
