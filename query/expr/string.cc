// Strings: joining, splitting, parts, length, case.
#include <algorithm>
#include <cmath>

#include "base/bson/decimal.h"
#include "query/expr/groups.h"
#include "query/expr/text.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

absl::StatusOr<bson::Value> EvalConcat(const Call& call) {
  size_t size = 0;
  for (const bson::Value& value : call.args) {
    if (value.IsNullish()) return NullValue();
    if (!value.Is(Type::kString)) {
      return WrongType(call, Location(16702), "only supports strings", value);
    }
    size += value.AsString().size();
  }
  char* bytes = call.arena().Allocate(size + 5);
  const auto prefix = static_cast<int32_t>(size + 1);
  std::memcpy(bytes, &prefix, 4);
  char* at = bytes + 4;
  for (const bson::Value& value : call.args) {
    at = std::copy(value.AsString().begin(), value.AsString().end(), at);
  }
  *at = '\0';
  return bson::Value(Type::kString, bytes);
}

absl::StatusOr<bson::Value> EvalSplit(const Call& call) {
  if (!call.args[0].Is(Type::kString)) {
    return WrongType(call, Location(40085), "requires a string as the first argument",
                     call.args[0]);
  }
  if (!call.args[1].Is(Type::kString)) {
    return WrongType(call, Location(40086), "requires a string as the second argument",
                     call.args[1]);
  }
  std::string_view rest = call.args[0].AsString();
  const std::string_view separator = call.args[1].AsString();
  if (separator.empty()) return Error(Location(40087), "$split requires a non-empty separator");
  ArenaBuilder parts(call.arena(), Type::kArray);
  for (size_t at; (at = rest.find(separator)) != std::string_view::npos;) {
    parts.Add(call.arena().String(rest.substr(0, at)));
    rest.remove_prefix(at + separator.size());
  }
  parts.Add(call.arena().String(rest));
  return parts.Finish();
}

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char UpperAscii(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

absl::StatusOr<bson::Value> ChangeCase(const Call& call, char (*change)(char)) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view text, CoerceToText(call, call.args[0]));
  const bson::Value result = call.arena().String(text);
  char* bytes = const_cast<char*>(result.AsString().data());  // the arena's, made just now
  std::transform(bytes, bytes + text.size(), bytes, change);
  return result;
}

absl::StatusOr<bson::Value> EvalToLower(const Call& call) { return ChangeCase(call, LowerAscii); }
absl::StatusOr<bson::Value> EvalToUpper(const Call& call) { return ChangeCase(call, UpperAscii); }

absl::StatusOr<bson::Value> EvalStrcasecmp(const Call& call) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view a, CoerceToText(call, call.args[0]));
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view b, CoerceToText(call, call.args[1]));
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const int order =
        static_cast<uint8_t>(UpperAscii(a[i])) - static_cast<uint8_t>(UpperAscii(b[i]));
    if (order != 0) return call.arena().Int32(order < 0 ? -1 : 1);
  }
  return call.arena().Int32(a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0);
}

absl::StatusOr<bson::Value> EvalStrLenBytes(const Call& call) {
  if (!call.args[0].Is(Type::kString)) {
    return WrongType(call, Location(34473), "requires a string argument", call.args[0]);
  }
  return call.arena().Count(call.args[0].AsString().size());
}

absl::StatusOr<bson::Value> EvalStrLenCp(const Call& call) {
  if (!call.args[0].Is(Type::kString)) {
    return WrongType(call, Location(34471), "requires a string argument", call.args[0]);
  }
  return call.arena().Count(CountCodePoints(call.args[0].AsString()));
}

// A bound of $substrBytes: doubles are cut to an integer, decimals rounded.
absl::StatusOr<int64_t> ByteBound(const Call& call, size_t arg, int not_number) {
  const bson::Value value = call.args[arg];
  if (!value.IsNumber()) {
    return WrongType(call, Location(not_number), "requires numeric indexes", value);
  }
  if (value.Is(Type::kDecimal128)) {
    const bson::Decimal128Bits whole =
        bson::DecimalApply(bson::DecimalFunction::kRoundHalfEven, value.AsDecimal128());
    const bson::Value rounded = call.arena().Decimal(whole);
    return bson::ToInt64Exact(rounded).value_or(INT64_MIN);
  }
  const double real = bson::ToDouble(value);
  if (!(real > -0x1p63 && real < 0x1p63) && !value.Is(Type::kInt64)) {
    return Error(Location(31109), "Can't coerce out of range value {} to long", real);
  }
  return bson::ToInt64Truncated(value);
}

absl::StatusOr<bson::Value> EvalSubstrBytes(const Call& call) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view text, CoerceToText(call, call.args[0]));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t from, ByteBound(call, 1, 16034));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t length, ByteBound(call, 2, 16035));
  if (from < 0) {
    return Error(Location(50752), "{}: starting index must be non-negative (got: {})", call.op.name,
                 from);
  }
  const auto size = static_cast<int64_t>(text.size());
  if (from < size && IsContinuation(text[static_cast<size_t>(from)])) {
    return Error(Location(28656), "{}: Invalid range, starting index is a UTF-8 continuation byte",
                 call.op.name);
  }
  if (from >= size) return EmptyString();
  const int64_t end = length < 0 || length > size - from ? size : from + length;
  if (end < size && IsContinuation(text[static_cast<size_t>(end)])) {
    return Error(Location(28657),
                 "{}: Invalid range, ending index is in the middle of a UTF-8 character",
                 call.op.name);
  }
  return call.arena().String(
      text.substr(static_cast<size_t>(from), static_cast<size_t>(end - from)));
}

absl::StatusOr<bson::Value> EvalSubstrCp(const Call& call) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view text, CoerceToText(call, call.args[0]));
  int64_t bounds[2];
  for (size_t i = 0; i < 2; ++i) {
    const auto code = static_cast<int>(34450 + 2 * i);
    const bson::Value value = call.args[i + 1];
    if (!value.IsNumber()) {
      return WrongType(call, Location(code), "requires numeric indexes", value);
    }
    const std::optional<int32_t> bound = Int32Of(value);
    if (!bound) {
      return Error(Location(code + 1), "{}: indexes must be representable as 32-bit integers",
                   call.op.name);
    }
    bounds[i] = *bound;
  }
  if (bounds[1] < 0) {
    return Error(Location(34454), "{}: length must be a nonnegative integer.", call.op.name);
  }
  if (bounds[0] < 0) {
    return Error(Location(34455), "{}: the starting index must be nonnegative integer.",
                 call.op.name);
  }
  const size_t from = CodePointOffset(text, static_cast<size_t>(bounds[0]));
  const std::string_view rest = text.substr(from);
  return call.arena().String(rest.substr(0, CodePointOffset(rest, static_cast<size_t>(bounds[1]))));
}

constexpr ExprOp kRows[] = {
    {.name = "$concat",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalConcat,
     .spec = "operator/aggregation/concat",
     .tests = "expressions/string/concat"},
    {.name = "$split",
     .arity = Arity::Exactly(2),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalSplit,
     .spec = "operator/aggregation/split",
     .tests = "expressions/string/split"},
    {.name = "$strLenBytes",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalStrLenBytes,
     .spec = "operator/aggregation/strLenBytes",
     .tests = "expressions/string/strLenBytes"},
    {.name = "$strLenCP",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalStrLenCp,
     .spec = "operator/aggregation/strLenCP",
     .tests = "expressions/string/strLenCP"},
    {.name = "$strcasecmp",
     .arity = Arity::Exactly(2),
     .parse = ParseArguments,
     .eval = EvalStrcasecmp,
     .spec = "operator/aggregation/strcasecmp",
     .tests = "expressions/string/strcasecmp"},
    {.name = "$substr",
     .arity = Arity::Exactly(3),
     .parse = ParseArguments,
     .eval = EvalSubstrBytes,
     .spec = "operator/aggregation/substr",
     .tests = "expressions/string/substr"},
    {.name = "$substrBytes",
     .arity = Arity::Exactly(3),
     .parse = ParseArguments,
     .eval = EvalSubstrBytes,
     .spec = "operator/aggregation/substrBytes",
     .tests = "expressions/string/substrBytes"},
    {.name = "$substrCP",
     .arity = Arity::Exactly(3),
     .parse = ParseArguments,
     .eval = EvalSubstrCp,
     .spec = "operator/aggregation/substrCP",
     .tests = "expressions/string/substrCP"},
    {.name = "$toLower",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalToLower,
     .spec = "operator/aggregation/toLower",
     .tests = "expressions/string/toLower"},
    {.name = "$toUpper",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalToUpper,
     .spec = "operator/aggregation/toUpper",
     .tests = "expressions/string/toUpper"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> StringOps() { return kRows; }

}  // namespace evenkeel::query::expr
