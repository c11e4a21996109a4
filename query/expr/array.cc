// Array operators that look at elements: access, search, parts, joining.
#include <algorithm>

#include "base/bson/compare.h"
#include "query/expr/groups.h"
#include "query/expr/value_hash.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

// The element at `index`, counted from the end when negative; missing past either end.
bson::Value ElementAt(bson::Value array, int64_t index) {
  const bson::View elements = array.AsDocument();
  if (index < 0) index += static_cast<int64_t>(elements.CountFields());
  if (index < 0) return bson::Value();
  for (const bson::Element& element : elements) {
    if (index-- == 0) return element.value;
  }
  return bson::Value();
}

absl::StatusOr<bson::Value> EvalArrayElemAt(const Call& call) {
  const bson::Value array = call.args[0];
  const bson::Value index = call.args[1];
  if (!array.Is(Type::kArray)) {
    return WrongType(call, Location(28689), "first argument must be an array", array);
  }
  if (!index.IsNumber()) {
    return WrongType(call, Location(28690), "second argument must be a numeric value", index);
  }
  const std::optional<int32_t> at = Int32Of(index);
  if (!at) {
    return Error(Location(28691), "{} second argument must be representable as a 32-bit integer",
                 call.op.name);
  }
  return ElementAt(array, *at);
}

absl::StatusOr<bson::Value> FirstOrLast(const Call& call, int64_t index) {
  if (call.args[0].IsNullish()) return NullValue();
  if (!call.args[0].Is(Type::kArray)) {
    return WrongType(call, Location(28689), "argument must be an array", call.args[0]);
  }
  return ElementAt(call.args[0], index);
}

absl::StatusOr<bson::Value> EvalFirst(const Call& call) { return FirstOrLast(call, 0); }
absl::StatusOr<bson::Value> EvalLast(const Call& call) { return FirstOrLast(call, -1); }

absl::StatusOr<bson::Value> EvalConcatArrays(const Call& call) {
  ArenaBuilder joined(call.arena(), Type::kArray);
  for (const bson::Value& array : call.args) {
    if (array.IsNullish()) return NullValue();
    if (!array.Is(Type::kArray)) {
      return WrongType(call, Location(28664), "only supports arrays", array);
    }
    for (const bson::Element& element : array.AsDocument()) joined.Add(element.value);
  }
  return joined.Finish();
}

// The elements of a constant array, ready to be looked up.
class InState final : public OpState {
 public:
  InState(bson::Value array, const bson::StringComparator* collation)
      : array_(array), set_(MakeValueSet(collation)) {
    for (const bson::Element& element : array_.value().AsDocument()) set_.insert(element.value);
  }
  bool Contains(bson::Value value) const { return set_.contains(value); }

 private:
  bson::OwnedValue array_;
  ValueSet set_;
};

absl::StatusOr<std::unique_ptr<OpState>> PrepareIn(
    std::span<const std::optional<bson::Value>> constants, const QueryContext& context) {
  if (!constants[1] || !constants[1]->Is(Type::kArray)) return nullptr;
  return std::make_unique<InState>(*constants[1], context.collation);
}

absl::StatusOr<bson::Value> EvalIn(const Call& call) {
  const bson::Value wanted = call.args[0];
  if (call.state != nullptr) {
    return BoolValue(static_cast<const InState*>(call.state)->Contains(wanted));
  }
  if (!call.args[1].Is(Type::kArray)) {
    return WrongType(call, Location(40081), "requires an array as a second argument", call.args[1]);
  }
  for (const bson::Element& element : call.args[1].AsDocument()) {
    if (bson::Compare(wanted, element.value, call.evaluation.collation()) == 0) return TrueValue();
  }
  return FalseValue();
}

absl::StatusOr<bson::Value> EvalIndexOfArray(const Call& call) {
  const bson::Value array = call.args[0];
  if (array.IsNullish()) return NullValue();
  if (!array.Is(Type::kArray)) {
    return WrongType(call, Location(40090), "requires an array as a first argument", array);
  }
  int64_t bounds[2] = {0, INT32_MAX};
  for (size_t i = 2; i < call.args.size(); ++i) {
    const std::optional<int32_t> bound = Int32Of(call.args[i]);
    if (!bound) {
      return WrongType(call, Location(40096), "requires an integral start and end index",
                       call.args[i]);
    }
    if (*bound < 0) {
      return Error(Location(40097), "{} requires a nonnegative start and end index", call.op.name);
    }
    bounds[i - 2] = *bound;
  }
  int64_t at = 0;
  for (const bson::Element& element : array.AsDocument()) {
    if (at >= bounds[1]) break;
    if (at >= bounds[0] &&
        bson::Compare(call.args[1], element.value, call.evaluation.collation()) == 0) {
      return call.arena().Int32(static_cast<int32_t>(at));
    }
    ++at;
  }
  return call.arena().Int32(-1);
}

absl::StatusOr<bson::Value> EvalIsArray(const Call& call) {
  return BoolValue(call.args[0].Is(Type::kArray));
}

// One bound of $range. `not_number` and `not_int` are the codes of its errors.
absl::StatusOr<int64_t> RangeBound(const Call& call, size_t arg, int not_number, int not_int) {
  const bson::Value value = call.args[arg];
  if (!value.IsNumber()) {
    return WrongType(call, Location(not_number), "requires numeric arguments", value);
  }
  const std::optional<int32_t> bound = Int32Of(value);
  if (!bound) {
    return Error(Location(not_int),
                 "{} requires arguments that can be represented as a 32-bit integer", call.op.name);
  }
  return int64_t{*bound};
}

absl::StatusOr<bson::Value> EvalRange(const Call& call) {
  constexpr int64_t kElementBytes = 16;  // about what one int32 with its key takes
  EVENKEEL_ASSIGN_OR_RETURN(int64_t at, RangeBound(call, 0, 34443, 34444));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t end, RangeBound(call, 1, 34445, 34446));
  int64_t step = 1;
  if (call.args.size() == 3) {
    EVENKEEL_ASSIGN_OR_RETURN(step, RangeBound(call, 2, 34447, 34448));
    if (step == 0) return Error(Location(34449), "$range requires a non-zero step value");
  }
  const int64_t count = std::max<int64_t>(0, (end - at + step - (step > 0 ? 1 : -1)) / step);
  if (count * kElementBytes > static_cast<int64_t>(EvalArena::kBytesMax)) {
    return Error(ErrorCode::kExceededMemoryLimit, "$range would use too much memory");
  }
  ArenaBuilder range(call.arena(), Type::kArray);
  for (int64_t i = 0; i < count; ++i, at += step) {
    const auto number = static_cast<int32_t>(at);
    range.Add(bson::Value(Type::kInt32, reinterpret_cast<const char*>(&number)));
  }
  return range.Finish();
}

absl::StatusOr<bson::Value> EvalReverseArray(const Call& call) {
  if (!call.args[0].Is(Type::kArray)) {
    return WrongType(call, Location(34435), "argument must be an array", call.args[0]);
  }
  std::vector<bson::Value> elements;
  for (const bson::Element& element : call.args[0].AsDocument()) elements.push_back(element.value);
  ArenaBuilder reversed(call.arena(), Type::kArray);
  for (size_t i = elements.size(); i-- > 0;) reversed.Add(elements[i]);
  return reversed.Finish();
}

absl::StatusOr<bson::Value> EvalSize(const Call& call) {
  if (!call.args[0].Is(Type::kArray)) {
    return WrongType(call, Location(17124), "argument must be an array", call.args[0]);
  }
  return call.arena().Count(call.args[0].AsDocument().CountFields());
}

// Elements [from, from + count) of an array.
bson::Value Part(const Call& call, bson::Value array, int64_t from, int64_t count) {
  ArenaBuilder part(call.arena(), Type::kArray);
  int64_t at = 0;
  for (const bson::Element& element : array.AsDocument()) {
    if (at >= from + count) break;
    if (at++ >= from) part.Add(element.value);
  }
  return part.Finish();
}

// $slice: [array, n] or [array, position, n].
absl::StatusOr<bson::Value> EvalSlice(const Call& call) {
  const bson::Value array = call.args[0];
  if (!array.Is(Type::kArray)) {
    return WrongType(call, Location(28724), "first argument must be an array", array);
  }
  int64_t numbers[2] = {0, 0};
  for (size_t i = 1; i < call.args.size(); ++i) {
    const auto code = static_cast<int>(28725 + 2 * (i - 1));
    if (!call.args[i].IsNumber()) {
      return WrongType(call, Location(code), "needs numeric arguments", call.args[i]);
    }
    const std::optional<int32_t> number = Int32Of(call.args[i]);
    if (!number) {
      return Error(Location(code + 1), "{} arguments can't be represented as a 32-bit integer",
                   call.op.name);
    }
    numbers[i - 1] = *number;
  }
  const auto size = static_cast<int64_t>(array.AsDocument().CountFields());
  const auto from_end = [size](int64_t n) { return n < 0 ? std::max<int64_t>(0, size + n) : n; };
  if (call.args.size() == 2) {
    if (numbers[0] >= 0) return Part(call, array, 0, numbers[0]);
    return Part(call, array, from_end(numbers[0]), size);
  }
  if (numbers[1] <= 0) {
    return Error(Location(28729), "Third argument to $slice must be positive: {}", numbers[1]);
  }
  return Part(call, array, from_end(numbers[0]), numbers[1]);
}

constexpr std::string_view kPage = "operator/aggregation-array";

constexpr ExprOp kRows[] = {
    {.name = "$arrayElemAt",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalArrayElemAt,
     .spec = kPage,
     .tests = "expressions/array/arrayElemAt"},
    {.name = "$concatArrays",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalConcatArrays,
     .spec = kPage,
     .tests = "expressions/array/concatArrays"},
    {.name = "$first",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalFirst,
     .spec = kPage,
     .tests = "expressions/accumulator/first"},
    {.name = "$in",
     .arity = Arity::Exactly(2),
     .parse = ParseArguments,
     .eval = EvalIn,
     .prepare = PrepareIn,
     .spec = kPage,
     .tests = "expressions/array/in"},
    {.name = "$indexOfArray",
     .arity = Arity::Between(2, 4),
     .parse = ParseArguments,
     .eval = EvalIndexOfArray,
     .spec = kPage,
     .tests = "expressions/array/indexOfArray"},
    {.name = "$isArray",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalIsArray,
     .spec = kPage,
     .tests = "expressions/array/isArray"},
    {.name = "$last",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalLast,
     .spec = kPage,
     .tests = "expressions/accumulator/last"},
    {.name = "$range",
     .arity = Arity::Between(2, 3),
     .parse = ParseArguments,
     .eval = EvalRange,
     .spec = kPage,
     .tests = "expressions/array/range"},
    {.name = "$reverseArray",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalReverseArray,
     .spec = kPage,
     .tests = "expressions/array/reverseArray"},
    {.name = "$size",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalSize,
     .spec = kPage,
     .tests = "expressions/array/size"},
    {.name = "$slice",
     .arity = Arity::Between(2, 3),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalSlice,
     .spec = kPage,
     .tests = "expressions/array/slice"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ArrayOps() { return kRows; }

}  // namespace evenkeel::query::expr
