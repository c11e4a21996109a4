// $ceil, $floor, $round, $trunc.
#include <cmath>

#include "base/bson/decimal.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

constexpr int kPlaceMin = -20;
constexpr int kPlaceMax = 100;

absl::StatusOr<bson::Value> ToWhole(const Call& call, double (*of_double)(double),
                                    bson::DecimalFunction of_decimal) {
  const bson::Value value = call.args[0];
  if (!value.IsNumber()) {
    return WrongType(call, Location(28765), "only supports numeric types", value);
  }
  if (value.Is(Type::kDouble)) return call.arena().Double(of_double(value.AsDouble()));
  if (!value.Is(Type::kDecimal128)) return value;
  const bson::Decimal128Bits whole = bson::DecimalApply(of_decimal, value.AsDecimal128());
  return call.arena().Decimal(bson::DecimalQuantize(whole, 0, bson::DecimalRounding::kTowardsZero));
}

absl::StatusOr<bson::Value> EvalCeil(const Call& call) {
  return ToWhole(call, std::ceil, bson::DecimalFunction::kCeil);
}

absl::StatusOr<bson::Value> EvalFloor(const Call& call) {
  return ToWhole(call, std::floor, bson::DecimalFunction::kFloor);
}

// The number of decimal places asked for.
absl::StatusOr<int> PlaceOf(const Call& call) {
  if (call.args.size() < 2) return 0;
  const bson::Value place = call.args[1];
  if (!place.IsNumber()) {
    return WrongType(call, Location(16004), "requires a numeric second argument", place);
  }
  if (place.Is(Type::kDouble) && !std::isfinite(place.AsDouble())) {
    return Error(Location(31109), "Can't coerce out of range value {} to long", place.AsDouble());
  }
  const std::optional<int64_t> exact = bson::ToInt64Exact(place);
  if (!exact)
    return Error(Location(51082), "precision argument to {} must be an integral value",
                 call.op.name);
  if (*exact < kPlaceMin || *exact > kPlaceMax) {
    return Error(Location(51083),
                 "cannot apply {} with precision value {} value must be in [-20, 100]",
                 call.op.name, *exact);
  }
  return static_cast<int>(*exact);
}

absl::StatusOr<bson::Value> RoundInteger(const Call& call, int place,
                                         bson::DecimalRounding rounding) {
  const bson::Value value = call.args[0];
  if (place >= 0) return value;
  const int64_t integer = value.Is(Type::kInt32) ? value.AsInt32() : value.AsInt64();
  const bson::Decimal128Bits rounded =
      bson::DecimalQuantize(bson::DecimalFromInt64(integer), -place, rounding);
  const bson::Number number = bson::Number::Decimal(rounded);
  const std::optional<int64_t> exact = bson::ToInt64Exact(call.arena().Number(number));
  if (!exact)
    return Error(Location(51080), "invalid conversion from Decimal128 result in {}", call.op.name);
  if (value.Is(Type::kInt32) && *exact >= INT32_MIN && *exact <= INT32_MAX) {
    return call.arena().Int32(static_cast<int32_t>(*exact));
  }
  return call.arena().Int64(*exact);
}

absl::StatusOr<bson::Value> RoundTo(const Call& call, bson::DecimalRounding rounding) {
  const bson::Value value = call.args[0];
  if (!value.IsNumber()) {
    return WrongType(call, Location(51081), "only supports numeric types", value);
  }
  EVENKEEL_ASSIGN_OR_RETURN(const int place, PlaceOf(call));
  if (value.Is(Type::kInt32) || value.Is(Type::kInt64)) return RoundInteger(call, place, rounding);
  const bool is_double = value.Is(Type::kDouble);
  if (is_double) {
    const double number = value.AsDouble();
    if (!std::isfinite(number)) return value;
    if (place == 0) {
      const bool cut = rounding == bson::DecimalRounding::kTowardsZero;
      return call.arena().Double(cut ? std::trunc(number) : std::nearbyint(number));
    }
  }
  const bson::Decimal128Bits decimal =
      is_double ? bson::DecimalFromDoubleExact(value.AsDouble()) : value.AsDecimal128();
  const bson::Decimal128Bits rounded = bson::DecimalQuantize(decimal, -place, rounding);
  if (bson::DecimalIsNaN(rounded)) return value;  // finer than its digits, or no finite number
  if (is_double) return call.arena().Double(bson::DecimalToDouble(rounded));
  return call.arena().Decimal(rounded);
}

absl::StatusOr<bson::Value> EvalRound(const Call& call) {
  return RoundTo(call, bson::DecimalRounding::kHalfEven);
}

absl::StatusOr<bson::Value> EvalTrunc(const Call& call) {
  return RoundTo(call, bson::DecimalRounding::kTowardsZero);
}

constexpr ExprOp kRows[] = {
    {.name = "$ceil",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalCeil,
     .spec = "operator/aggregation/ceil",
     .tests = "expressions/arithmetic/ceil"},
    {.name = "$floor",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalFloor,
     .spec = "operator/aggregation/floor",
     .tests = "expressions/arithmetic/floor"},
    {.name = "$round",
     .arity = Arity::Between(1, 2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalRound,
     .spec = "operator/aggregation/round",
     .tests = "expressions/arithmetic/round"},
    {.name = "$trunc",
     .arity = Arity::Between(1, 2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalTrunc,
     .spec = "operator/aggregation/trunc",
     .tests = "expressions/arithmetic/trunc"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> RoundingOps() { return kRows; }

}  // namespace evenkeel::query::expr
