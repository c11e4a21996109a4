// Finding, trimming and replacing in strings.
#include <algorithm>

#include "query/expr/groups.h"
#include "query/expr/text.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

// The optional start and end of $indexOf…; `*bounds` keeps its values when they are not given.
absl::Status IndexBounds(const Call& call, int64_t* bounds) {
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
  return absl::OkStatus();
}

absl::StatusOr<bson::Value> EvalIndexOfBytes(const Call& call) {
  if (call.args[0].IsNullish()) return NullValue();
  if (!call.args[0].Is(Type::kString)) {
    return WrongType(call, Location(40091), "requires a string as the first argument",
                     call.args[0]);
  }
  if (!call.args[1].Is(Type::kString)) {
    return WrongType(call, Location(40092), "requires a string as the second argument",
                     call.args[1]);
  }
  const std::string_view text = call.args[0].AsString();
  const std::string_view token = call.args[1].AsString();
  int64_t bounds[2] = {0, static_cast<int64_t>(text.size())};
  EVENKEEL_RETURN_IF_ERROR(IndexBounds(call, bounds));
  const auto end = std::min(static_cast<size_t>(bounds[1]), text.size());
  const auto start = static_cast<size_t>(bounds[0]);
  if (start > text.size() || end < start) return call.arena().Int32(-1);
  const size_t found = text.substr(0, end).find(token, start);
  return call.arena().Int32(found == std::string_view::npos ? -1 : static_cast<int32_t>(found));
}

absl::StatusOr<bson::Value> EvalIndexOfCp(const Call& call) {
  if (call.args[0].IsNullish()) return NullValue();
  if (!call.args[0].Is(Type::kString)) {
    return WrongType(call, Location(40093), "requires a string as the first argument",
                     call.args[0]);
  }
  if (!call.args[1].Is(Type::kString)) {
    return WrongType(call, Location(40094), "requires a string as the second argument",
                     call.args[1]);
  }
  const std::string_view text = call.args[0].AsString();
  const std::string_view token = call.args[1].AsString();
  const auto length = static_cast<int64_t>(CountCodePoints(text));
  int64_t bounds[2] = {0, length};
  EVENKEEL_RETURN_IF_ERROR(IndexBounds(call, bounds));
  bounds[1] = std::min(bounds[1], length);
  if (bounds[0] > length || bounds[1] < bounds[0]) return call.arena().Int32(-1);
  const size_t start = CodePointOffset(text, static_cast<size_t>(bounds[0]));
  const size_t end = CodePointOffset(text, static_cast<size_t>(bounds[1]));
  const size_t found = text.substr(0, end).find(token, start);
  if (found == std::string_view::npos) return call.arena().Int32(-1);
  return call.arena().Int32(static_cast<int32_t>(CountCodePoints(text.substr(0, found))));
}

// The code points that $trim removes when it is not told.
constexpr std::string_view kWhitespace[] = {std::string_view("\0", 1),
                                            " ",
                                            "\t",
                                            "\n",
                                            "\v",
                                            "\f",
                                            "\r",
                                            "\u00A0",
                                            "\u1680",
                                            "\u2000",
                                            "\u2001",
                                            "\u2002",
                                            "\u2003",
                                            "\u2004",
                                            "\u2005",
                                            "\u2006",
                                            "\u2007",
                                            "\u2008",
                                            "\u2009",
                                            "\u200A"};

// The code points of `text`.
std::vector<std::string_view> CodePoints(std::string_view text) {
  std::vector<std::string_view> points;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    while (end < text.size() && IsContinuation(text[end])) ++end;
    points.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return points;
}

absl::StatusOr<bson::Value> Trim(const Call& call, bool left, bool right) {
  const bson::Value input = call.args[0];
  const bson::Value chars = call.args[1];
  if (input.IsNullish()) return NullValue();
  if (!input.Is(Type::kString)) {
    return WrongType(call, Location(50699), "requires its input to be a string", input);
  }
  std::vector<std::string_view> removed(std::begin(kWhitespace), std::end(kWhitespace));
  if (call.Given(1)) {
    if (chars.IsNullish()) return NullValue();
    if (!chars.Is(Type::kString)) {
      return WrongType(call, Location(50700), "requires 'chars' to be a string", chars);
    }
    removed = CodePoints(chars.AsString());
  }
  std::string_view text = input.AsString();
  const auto removes = [&removed](auto matches) {
    return std::find_if(removed.begin(), removed.end(), matches);
  };
  while (left && !text.empty()) {
    const auto at = removes([&text](std::string_view p) { return text.starts_with(p); });
    if (at == removed.end()) break;
    text.remove_prefix(at->size());
  }
  while (right && !text.empty()) {
    const auto at = removes([&text](std::string_view p) { return text.ends_with(p); });
    if (at == removed.end()) break;
    text.remove_suffix(at->size());
  }
  return call.arena().String(text);
}

absl::StatusOr<bson::Value> EvalTrim(const Call& call) { return Trim(call, true, true); }
absl::StatusOr<bson::Value> EvalLtrim(const Call& call) { return Trim(call, true, false); }
absl::StatusOr<bson::Value> EvalRtrim(const Call& call) { return Trim(call, false, true); }

absl::StatusOr<bson::Value> Replace(const Call& call, bool all) {
  constexpr int kCodes[] = {10503904, 10503901, 10503902};
  bool null = false;
  for (size_t i = 0; i < 3; ++i) {
    if (call.args[i].IsNullish()) {
      null = true;
    } else if (!call.args[i].Is(Type::kString)) {
      return WrongType(call, Location(kCodes[i]), "requires strings", call.args[i]);
    }
  }
  if (null) return NullValue();
  std::string_view rest = call.args[0].AsString();
  const std::string_view find = call.args[1].AsString();
  const std::string_view replacement = call.args[2].AsString();
  std::string result;
  for (;;) {
    const size_t at = rest.find(find);
    if (at == std::string_view::npos) break;
    result.append(rest.substr(0, at)).append(replacement);
    rest.remove_prefix(at + find.size());
    if (!all) break;
    if (find.empty()) {
      if (rest.empty()) break;
      size_t end = 1;
      while (end < rest.size() && IsContinuation(rest[end])) ++end;
      result.append(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (result.size() > EvalArena::kBytesMax) {
      return Error(ErrorCode::kExceededMemoryLimit, "{} would use too much memory", call.op.name);
    }
  }
  return call.arena().String(result, rest);
}

absl::StatusOr<bson::Value> EvalReplaceOne(const Call& call) { return Replace(call, false); }
absl::StatusOr<bson::Value> EvalReplaceAll(const Call& call) { return Replace(call, true); }

constexpr NamedArg kTrimArgs[] = {{.name = "input", .required = true, .missing = Location(50695)},
                                  {.name = "chars"}};
constexpr NamedArg kReplaceArgs[] = {
    {.name = "input", .required = true, .missing = Location(51749)},
    {.name = "find", .required = true, .missing = Location(51748)},
    {.name = "replacement", .required = true, .missing = Location(51747)}};

constexpr ExprOp TrimRow(std::string_view name, EvalFn eval, std::string_view spec,
                         std::string_view tests) {
  return {.name = name,
          .parse = ParseNamed,
          .eval = eval,
          .named = kTrimArgs,
          .not_object = Location(50696),
          .unknown_name = Location(50694),
          .spec = spec,
          .tests = tests};
}

constexpr ExprOp ReplaceRow(std::string_view name, EvalFn eval, std::string_view spec,
                            std::string_view tests) {
  return {.name = name,
          .parse = ParseNamed,
          .eval = eval,
          .named = kReplaceArgs,
          .not_object = Location(51751),
          .unknown_name = Location(51750),
          .spec = spec,
          .tests = tests};
}

constexpr ExprOp kRows[] = {
    {.name = "$indexOfBytes",
     .arity = Arity::Between(2, 4),
     .parse = ParseArguments,
     .eval = EvalIndexOfBytes,
     .spec = "operator/aggregation/indexOfBytes",
     .tests = "expressions/string/indexOfBytes"},
    {.name = "$indexOfCP",
     .arity = Arity::Between(2, 4),
     .parse = ParseArguments,
     .eval = EvalIndexOfCp,
     .spec = "operator/aggregation/indexOfCP",
     .tests = "expressions/string/indexOfCP"},
    TrimRow("$ltrim", EvalLtrim, "operator/aggregation/ltrim", "expressions/string/ltrim"),
    ReplaceRow("$replaceAll", EvalReplaceAll, "operator/aggregation/replaceAll",
               "expressions/string/replaceAll"),
    ReplaceRow("$replaceOne", EvalReplaceOne, "operator/aggregation/replaceOne",
               "expressions/string/replaceOne"),
    TrimRow("$rtrim", EvalRtrim, "operator/aggregation/rtrim", "expressions/string/rtrim"),
    TrimRow("$trim", EvalTrim, "operator/aggregation/trim", "expressions/string/trim"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> StringSearchOps() { return kRows; }

}  // namespace evenkeel::query::expr
