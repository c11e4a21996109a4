// $firstN, $lastN, $maxN, $minN, $median, $percentile: some of the elements of an array.
#include <algorithm>
#include <cmath>

#include "base/bson/compare.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

enum NArg { kN, kInput };

// Checks the arguments of $firstN … and reads the elements. Source: "$firstN", "$maxN" in the
// manual.
absl::Status ReadElements(const Call& call, size_t* n, std::vector<bson::Value>* elements) {
  const bson::Value count = call.args[kN];
  const bson::Value input = call.args[kInput];
  if (!count.IsNumber()) {
    return WrongType(call, Location(5787902), "requires 'n' to be a number", count);
  }
  const std::optional<int64_t> exact = bson::ToInt64Exact(count);
  if (!exact) return Error(Location(5787903), "{}: 'n' must be a whole number", call.op.name);
  if (*exact <= 0) {
    return Error(Location(5787908), "{}: 'n' must be greater than 0, found {}", call.op.name,
                 *exact);
  }
  if (!input.Is(Type::kArray)) {
    return WrongType(call, Location(5788200), "requires 'input' to be an array", input);
  }
  *n = static_cast<size_t>(*exact);
  for (const bson::Element& element : input.AsDocument()) elements->push_back(element.value);
  return absl::OkStatus();
}

bson::Value MakeArray(const Call& call, std::span<const bson::Value> elements) {
  ArenaBuilder array(call.arena(), Type::kArray);
  for (const bson::Value& element : elements) array.Add(element);
  return array.Finish();
}

absl::StatusOr<bson::Value> FirstOrLast(const Call& call, bool last) {
  size_t n = 0;
  std::vector<bson::Value> elements;
  EVENKEEL_RETURN_IF_ERROR(ReadElements(call, &n, &elements));
  n = std::min(n, elements.size());
  const std::span<const bson::Value> all(elements);
  return MakeArray(call, last ? all.last(n) : all.first(n));
}

absl::StatusOr<bson::Value> EvalFirstN(const Call& call) { return FirstOrLast(call, false); }
absl::StatusOr<bson::Value> EvalLastN(const Call& call) { return FirstOrLast(call, true); }

absl::StatusOr<bson::Value> Extremes(const Call& call, int sign) {
  size_t n = 0;
  std::vector<bson::Value> elements;
  EVENKEEL_RETURN_IF_ERROR(ReadElements(call, &n, &elements));
  std::erase_if(elements, [](bson::Value element) { return element.IsNullish(); });
  std::stable_sort(elements.begin(), elements.end(), [&](bson::Value a, bson::Value b) {
    return sign * bson::Compare(a, b, call.evaluation.collation()) > 0;
  });
  return MakeArray(call,
                   std::span<const bson::Value>(elements).first(std::min(n, elements.size())));
}

absl::StatusOr<bson::Value> EvalMaxN(const Call& call) { return Extremes(call, 1); }
absl::StatusOr<bson::Value> EvalMinN(const Call& call) { return Extremes(call, -1); }

// ---- $median, $percentile ----

enum PercentileArg { kValues, kMethod, kP };

absl::Status CheckMethod(const Call& call) {
  const bson::Value method = call.args[kMethod];
  if (method.Is(Type::kString) && method.AsString() == "approximate") return absl::OkStatus();
  return Error(ErrorCode::kBadValue, "{}: 'method' must be 'approximate'", call.op.name);
}

// The numbers of the input, sorted: those of an array, or the one that it is.
std::vector<double> SortedNumbers(bson::Value input) {
  std::vector<double> numbers;
  const auto add = [&numbers](bson::Value value) {
    if (!value.IsNumber()) return;
    if (const double number = bson::ToDouble(value); !std::isnan(number)) numbers.push_back(number);
  };
  if (input.Is(Type::kArray)) {
    for (const bson::Element& element : input.AsDocument()) add(element.value);
  } else {
    add(input);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// The smallest number that at least the share `p` of all numbers do not exceed.
bson::Value PercentileOf(const Call& call, std::span<const double> sorted, double p) {
  if (sorted.empty()) return NullValue();
  const double rank = std::ceil(p * static_cast<double>(sorted.size())) - 1;
  return call.arena().Double(sorted[rank < 0 ? 0 : static_cast<size_t>(rank)]);
}

absl::StatusOr<bson::Value> EvalMedian(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckMethod(call));
  return PercentileOf(call, SortedNumbers(call.args[kValues]), 0.5);
}

absl::StatusOr<bson::Value> EvalPercentile(const Call& call) {
  EVENKEEL_RETURN_IF_ERROR(CheckMethod(call));
  const bson::Value shares = call.args[kP];
  if (!shares.Is(Type::kArray) || shares.AsDocument().empty()) {
    return WrongType(call, Location(7750301), "requires 'p' to be an array of numbers", shares);
  }
  const std::vector<double> sorted = SortedNumbers(call.args[kValues]);
  ArenaBuilder percentiles(call.arena(), Type::kArray);
  for (const bson::Element& element : shares.AsDocument()) {
    if (!element.value.IsNumber()) {
      return WrongType(call, Location(7750302), "requires 'p' to be an array of numbers",
                       element.value);
    }
    const double share = bson::ToDouble(element.value);
    if (!(share >= 0 && share <= 1)) {
      return Error(Location(7750303), "{}: 'p' must be between 0 and 1", call.op.name);
    }
    percentiles.Add(PercentileOf(call, sorted, share));
  }
  return percentiles.Finish();
}

constexpr NamedArg kNArgs[] = {{.name = "n", .required = true, .missing = Location(5787906)},
                               {.name = "input", .required = true, .missing = Location(5787907)}};
// A missing or unknown field is told by its IDL code.
constexpr ErrorCode kMissingField = Location(40414);
constexpr ErrorCode kUnknownField = Location(40415);
constexpr NamedArg kMedianArgs[] = {{.name = "input", .required = true, .missing = kMissingField},
                                    {.name = "method", .required = true, .missing = kMissingField}};
constexpr NamedArg kPercentileArgs[] = {
    {.name = "input", .required = true, .missing = kMissingField},
    {.name = "method", .required = true, .missing = kMissingField},
    {.name = "p", .required = true, .missing = kMissingField}};

constexpr ExprOp NRow(std::string_view name, EvalFn eval, std::string_view spec,
                      std::string_view tests) {
  return {.name = name,
          .parse = ParseNamed,
          .eval = eval,
          .named = kNArgs,
          .not_object = Location(5787801),
          .unknown_name = Location(5787901),
          .spec = spec,
          .tests = tests};
}

constexpr ExprOp kRows[] = {
    NRow("$firstN", EvalFirstN, "operator/aggregation/firstN", "expressions/array/firstN"),
    NRow("$lastN", EvalLastN, "operator/aggregation/lastN", "expressions/array/lastN"),
    NRow("$maxN", EvalMaxN, "operator/aggregation/maxN", "expressions/array/maxN-array-element"),
    {.name = "$median",
     .parse = ParseNamed,
     .eval = EvalMedian,
     .named = kMedianArgs,
     .not_object = Location(7436100),
     .unknown_name = kUnknownField,
     .spec = "operator/aggregation/median",
     .tests = "expressions/accumulator/median"},
    NRow("$minN", EvalMinN, "operator/aggregation/minN", "expressions/array/minN-array-element"),
    {.name = "$percentile",
     .parse = ParseNamed,
     .eval = EvalPercentile,
     .named = kPercentileArgs,
     .not_object = Location(7429703),
     .unknown_name = kUnknownField,
     .spec = "operator/aggregation/percentile",
     .tests = "expressions/accumulator/percentile"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ArrayNOps() { return kRows; }

}  // namespace evenkeel::query::expr
