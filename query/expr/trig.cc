// Trigonometry and conversion between degrees and radians.
#include <cmath>
#include <numbers>

#include "base/bson/decimal.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

using bson::DecimalFunction;
using bson::Type;

// The range of arguments that a function is defined for.
struct Domain {
  double low = -HUGE_VAL, high = HUGE_VAL;
  bool finite = false;  // infinities are refused
};

absl::StatusOr<bson::Value> Apply(const Call& call, double (*of_double)(double),
                                  DecimalFunction of_decimal, Domain domain) {
  const bson::Value value = call.args[0];
  if (!value.IsNumber()) {
    return WrongType(call, Location(28765), "only supports numeric types", value);
  }
  const double number = bson::ToDouble(value);
  if (number < domain.low || number > domain.high || (domain.finite && std::isinf(number))) {
    return Error(Location(50989), "cannot apply {} to {}", call.op.name, number);
  }
  if (value.Is(Type::kDecimal128)) {
    return call.arena().Decimal(bson::DecimalApply(of_decimal, value.AsDecimal128()));
  }
  return call.arena().Double(of_double(number));
}

template <double (*kOfDouble)(double), DecimalFunction kOfDecimal>
absl::StatusOr<bson::Value> EvalAnywhere(const Call& call) {
  return Apply(call, kOfDouble, kOfDecimal, {});
}

template <double (*kOfDouble)(double), DecimalFunction kOfDecimal>
absl::StatusOr<bson::Value> EvalFinite(const Call& call) {
  return Apply(call, kOfDouble, kOfDecimal, {.finite = true});
}

template <double (*kOfDouble)(double), DecimalFunction kOfDecimal>
absl::StatusOr<bson::Value> EvalUpToOne(const Call& call) {
  return Apply(call, kOfDouble, kOfDecimal, {-1, 1});
}

absl::StatusOr<bson::Value> EvalAcosh(const Call& call) {
  return Apply(call, std::acosh, DecimalFunction::kAcosh, {1, HUGE_VAL});
}

absl::StatusOr<bson::Value> EvalAtan2(const Call& call) {
  const bson::Value y = call.args[0];
  const bson::Value x = call.args[1];
  for (const bson::Value& value : call.args) {
    if (value.IsNumber()) continue;
    return WrongType(call, Location(51044), "only supports numeric types", value);
  }
  if (y.Is(Type::kDecimal128) || x.Is(Type::kDecimal128)) {
    const auto decimal = [](bson::Value value) {
      if (value.Is(Type::kDecimal128)) return value.AsDecimal128();
      if (value.Is(Type::kDouble)) return bson::DecimalFromDouble(value.AsDouble());
      return bson::DecimalFromInt64(bson::ToInt64Truncated(value));
    };
    return call.arena().Decimal(bson::DecimalAtan2(decimal(y), decimal(x)));
  }
  return call.arena().Double(std::atan2(bson::ToDouble(y), bson::ToDouble(x)));
}

// value * numerator / denominator, where one of both is pi and the other 180.
absl::StatusOr<bson::Value> Scale(const Call& call, bool to_degrees) {
  constexpr std::string_view kPi = "3.141592653589793238462643383279503";
  const bson::Value value = call.args[0];
  if (!value.IsNumber()) {
    return WrongType(call, Location(28765), "only supports numeric types", value);
  }
  if (value.Is(Type::kDecimal128)) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Decimal128Bits pi, bson::DecimalFromString(kPi));
    const bson::Decimal128Bits half_turn = bson::DecimalFromInt64(180);
    const bson::Decimal128Bits factor =
        to_degrees ? bson::DecimalDivide(half_turn, pi) : bson::DecimalDivide(pi, half_turn);
    return call.arena().Decimal(bson::DecimalMultiply(value.AsDecimal128(), factor));
  }
  const double factor = to_degrees ? 180 / std::numbers::pi : std::numbers::pi / 180;
  return call.arena().Double(bson::ToDouble(value) * factor);
}

absl::StatusOr<bson::Value> EvalDegreesToRadians(const Call& call) { return Scale(call, false); }
absl::StatusOr<bson::Value> EvalRadiansToDegrees(const Call& call) { return Scale(call, true); }

constexpr ExprOp Unary(std::string_view name, EvalFn eval, std::string_view spec) {
  return {.name = name,
          .arity = Arity::Exactly(1),
          .nulls = Nulls::kPropagate,
          .parse = ParseArguments,
          .eval = eval,
          .spec = spec,
          .tests = "expressions/trigonometry"};
}

constexpr ExprOp kRows[] = {
    Unary("$acos", EvalUpToOne<std::acos, DecimalFunction::kAcos>, "operator/aggregation/acos"),
    Unary("$acosh", EvalAcosh, "operator/aggregation/acosh"),
    Unary("$asin", EvalUpToOne<std::asin, DecimalFunction::kAsin>, "operator/aggregation/asin"),
    Unary("$asinh", EvalAnywhere<std::asinh, DecimalFunction::kAsinh>,
          "operator/aggregation/asinh"),
    Unary("$atan", EvalAnywhere<std::atan, DecimalFunction::kAtan>, "operator/aggregation/atan"),
    {.name = "$atan2",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalAtan2,
     .spec = "operator/aggregation/atan2",
     .tests = "expressions/trigonometry"},
    Unary("$atanh", EvalUpToOne<std::atanh, DecimalFunction::kAtanh>, "operator/aggregation/atanh"),
    Unary("$cos", EvalFinite<std::cos, DecimalFunction::kCos>, "operator/aggregation/cos"),
    Unary("$cosh", EvalAnywhere<std::cosh, DecimalFunction::kCosh>, "operator/aggregation/cosh"),
    Unary("$degreesToRadians", EvalDegreesToRadians, "operator/aggregation/degreesToRadians"),
    Unary("$radiansToDegrees", EvalRadiansToDegrees, "operator/aggregation/radiansToDegrees"),
    Unary("$sin", EvalFinite<std::sin, DecimalFunction::kSin>, "operator/aggregation/sin"),
    Unary("$sinh", EvalAnywhere<std::sinh, DecimalFunction::kSinh>, "operator/aggregation/sinh"),
    Unary("$tan", EvalFinite<std::tan, DecimalFunction::kTan>, "operator/aggregation/tan"),
    Unary("$tanh", EvalAnywhere<std::tanh, DecimalFunction::kTanh>, "operator/aggregation/tanh"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> TrigOps() { return kRows; }

}  // namespace evenkeel::query::expr
