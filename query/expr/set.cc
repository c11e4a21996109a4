// Arrays as sets: $allElementsTrue, $anyElementTrue, $setDifference, $setEquals, $setIntersection,
// $setIsSubset, $setUnion.
#include <algorithm>

#include "base/bson/compare.h"
#include "query/expr/groups.h"
#include "query/expr/value_hash.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

ValueSet SetOf(const Call& call, bson::Value array) {
  ValueSet set = MakeValueSet(call.evaluation.collation());
  for (const bson::Element& element : array.AsDocument()) set.insert(element.value);
  return set;
}

// The values in comparison order, as one array.
bson::Value SortedArray(const Call& call, std::vector<bson::Value> values) {
  const auto* collation = call.evaluation.collation();
  std::sort(values.begin(), values.end(), [collation](bson::Value a, bson::Value b) {
    return bson::Compare(a, b, collation) < 0;
  });
  ArenaBuilder array(call.arena(), Type::kArray);
  for (const bson::Value& value : values) array.Add(value);
  return array.Finish();
}

absl::Status CheckArray(const Call& call, size_t arg, int code) {
  if (call.args[arg].Is(Type::kArray)) return absl::OkStatus();
  return WrongType(call, Location(code), "arguments must be arrays", call.args[arg]);
}

absl::StatusOr<bson::Value> EvalAllElementsTrue(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckArray(call, 0, 17040));
  for (const bson::Element& element : call.args[0].AsDocument()) {
    if (!bson::Truthy(element.value)) return FalseValue();
  }
  return TrueValue();
}

absl::StatusOr<bson::Value> EvalAnyElementTrue(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckArray(call, 0, 17041));
  for (const bson::Element& element : call.args[0].AsDocument()) {
    if (bson::Truthy(element.value)) return TrueValue();
  }
  return FalseValue();
}

absl::StatusOr<bson::Value> EvalSetDifference(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckArray(call, 0, 17048));
  EVENKEEL_RETURN_IF_ERROR(CheckArray(call, 1, 17049));
  ValueSet seen = SetOf(call, call.args[1]);
  ArenaBuilder difference(call.arena(), Type::kArray);
  for (const bson::Element& element : call.args[0].AsDocument()) {
    if (seen.insert(element.value).second) difference.Add(element.value);
  }
  return difference.Finish();
}

absl::StatusOr<bson::Value> EvalSetEquals(const Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    EVENKEEL_RETURN_IF_ERROR(CheckArray(call, i, 17044));
  }
  const ValueSet first = SetOf(call, call.args[0]);
  for (size_t i = 1; i < call.args.size(); ++i) {
    const ValueSet other = SetOf(call, call.args[i]);
    if (other.size() != first.size()) return FalseValue();
    for (const bson::Value& value : other) {
      if (!first.contains(value)) return FalseValue();
    }
  }
  return TrueValue();
}

absl::StatusOr<bson::Value> EvalSetIntersection(const Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].IsNullish()) return NullValue();
    EVENKEEL_RETURN_IF_ERROR(CheckArray(call, i, 17047));
  }
  if (call.args.empty()) return EmptyArray();
  ValueSet common = SetOf(call, call.args[0]);
  for (size_t i = 1; i < call.args.size(); ++i) {
    const ValueSet other = SetOf(call, call.args[i]);
    absl::erase_if(common, [&](const bson::Value& value) { return !other.contains(value); });
  }
  return SortedArray(call, {common.begin(), common.end()});
}

absl::StatusOr<bson::Value> EvalSetIsSubset(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckArray(call, 0, 17046));
  EVENKEEL_RETURN_IF_ERROR(CheckArray(call, 1, 17042));
  const ValueSet whole = SetOf(call, call.args[1]);
  for (const bson::Element& element : call.args[0].AsDocument()) {
    if (!whole.contains(element.value)) return FalseValue();
  }
  return TrueValue();
}

absl::StatusOr<bson::Value> EvalSetUnion(const Call& call) {
  ValueSet all = MakeValueSet(call.evaluation.collation());
  std::vector<bson::Value> values;  // the first of equal ones
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].IsNullish()) return NullValue();
    EVENKEEL_RETURN_IF_ERROR(CheckArray(call, i, 17043));
    for (const bson::Element& element : call.args[i].AsDocument()) {
      if (all.insert(element.value).second) values.push_back(element.value);
    }
  }
  return SortedArray(call, std::move(values));
}

constexpr ExprOp kRows[] = {
    {.name = "$allElementsTrue",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalAllElementsTrue,
     .spec = "operator/aggregation/allElementsTrue",
     .tests = "expressions/set/allElementsTrue"},
    {.name = "$anyElementTrue",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalAnyElementTrue,
     .spec = "operator/aggregation/anyElementTrue",
     .tests = "expressions/set/anyElementTrue"},
    {.name = "$setDifference",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalSetDifference,
     .spec = "operator/aggregation/setDifference",
     .tests = "expressions/set/setDifference"},
    {.name = "$setEquals",
     .arity = Arity::AtLeast(2),
     .parse = ParseArguments,
     .eval = EvalSetEquals,
     .spec = "operator/aggregation/setEquals",
     .tests = "expressions/set/setEquals"},
    {.name = "$setIntersection",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalSetIntersection,
     .spec = "operator/aggregation/setIntersection",
     .tests = "expressions/set/setIntersection"},
    {.name = "$setIsSubset",
     .arity = Arity::Exactly(2),
     .parse = ParseArguments,
     .eval = EvalSetIsSubset,
     .spec = "operator/aggregation/setIsSubset",
     .tests = "expressions/set/setIsSubset"},
    {.name = "$setUnion",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalSetUnion,
     .spec = "operator/aggregation/setUnion",
     .tests = "expressions/set/setUnion"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> SetOps() { return kRows; }

}  // namespace evenkeel::query::expr
