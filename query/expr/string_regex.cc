// $regexFind, $regexFindAll, $regexMatch.
#include <algorithm>

#include "query/expr/groups.h"
#include "query/expr/text.h"
#include "query/match/regex.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;
using match::Regex;

enum RegexArg { kInput, kPattern, kOptions };

// The pattern of a query, compiled, when it is the same for every document.
struct RegexState final : OpState {
  std::optional<Regex> regex;
};

// Checks and compiles a pattern that is not null. Source: the manual, and the server's public
// codes.
absl::StatusOr<Regex> CompileRegex(bson::Value pattern, bson::Value options) {
  constexpr size_t kPatternBytesMax = 16'384;
  std::string_view text, flags;
  if (pattern.Is(Type::kRegex)) {
    text = pattern.AsRegex().pattern;
    flags = pattern.AsRegex().options;
    if (!flags.empty() && !options.IsNullish()) {
      return Error(Location(51107), "options may be in 'regex' or in 'options', not in both");
    }
  } else {
    text = pattern.AsString();
  }
  if (!options.IsNullish()) flags = options.AsString();
  if (text.find('\0') != std::string_view::npos) {
    return Error(Location(51109), "regex must not contain a null byte");
  }
  if (flags.find('\0') != std::string_view::npos) {
    return Error(Location(51110), "options must not contain a null byte");
  }
  if (text.size() > kPatternBytesMax) {
    return Error(Location(51111), "Invalid Regex: it is longer than {} bytes", kPatternBytesMax);
  }
  absl::StatusOr<Regex> regex = Regex::Compile(text, flags);
  if (regex.ok() || CodeOf(regex.status()) == Location(51108)) return regex;
  return Error(Location(51111), "Invalid Regex: {}", MessageOf(regex.status()));
}

absl::Status CheckTypes(std::string_view op, bson::Value pattern, bson::Value options) {
  if (!pattern.IsNullish() && !pattern.Is(Type::kString) && !pattern.Is(Type::kRegex)) {
    return Error(Location(51105), "{} needs 'regex' to be of type string or regex", op);
  }
  if (!options.IsNullish() && !options.Is(Type::kString)) {
    return Error(Location(51106), "{} needs 'options' to be of type string", op);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OpState>> PrepareRegex(
    std::span<const std::optional<bson::Value>> constants, const QueryContext&) {
  auto state = std::make_unique<RegexState>();
  const std::optional<bson::Value>& pattern = constants[kPattern];
  const std::optional<bson::Value>& options = constants[kOptions];
  if (!pattern || !options || pattern->IsNullish()) return state;
  EVENKEEL_RETURN_IF_ERROR(CheckTypes("regular expression", *pattern, *options));
  EVENKEEL_ASSIGN_OR_RETURN(state->regex, CompileRegex(*pattern, *options));
  return state;
}

struct Match {
  int64_t index = 0;  // in code points
  std::vector<std::pair<int64_t, int64_t>> groups;
};

// Walks the matches of one call, front to back.
class Matches {
 public:
  // Checks the arguments of a call. Errors: 51104 … 51111.
  static absl::StatusOr<Matches> Of(const Call& call) {
    const bson::Value input = call.args[kInput];
    const bson::Value pattern = call.args[kPattern];
    EVENKEEL_RETURN_IF_ERROR(CheckTypes(call.op.name, pattern, call.args[kOptions]));
    Matches matches;
    matches.regex_ = call.state == nullptr ? nullptr : RegexOf(*call.state);
    if (matches.regex_ == nullptr && !pattern.IsNullish()) {
      EVENKEEL_ASSIGN_OR_RETURN(matches.own_, CompileRegex(pattern, call.args[kOptions]));
    }
    if (!input.IsNullish() && !input.Is(Type::kString)) {
      return WrongType(call, Location(51104), "needs 'input' to be of type string", input);
    }
    matches.null_ = input.IsNullish() || pattern.IsNullish();
    if (!matches.null_) matches.text_ = input.AsString();
    return matches;
  }

  bool null() const { return null_; }
  bool Any() const { return !null_ && regex().Matches(text_); }
  std::string_view text() const { return text_; }

  // The next match; false at the end. An empty match at the very end of a text counts only if the
  // text is empty.
  bool Next(Match* match) {
    if (null_ || ended_ || !regex().Search(text_, at_, &match->groups)) return false;
    const auto start = static_cast<size_t>(match->groups[0].first);
    const auto end = static_cast<size_t>(match->groups[0].second);
    index_ += static_cast<int64_t>(CountCodePoints(text_.substr(counted_, start - counted_)));
    counted_ = start;
    match->index = index_;
    at_ = end;
    if (start == end) {
      ++at_;
      while (at_ < text_.size() && IsContinuation(text_[at_])) ++at_;
    }
    ended_ = at_ >= text_.size();
    return true;
  }

 private:
  static const Regex* RegexOf(const OpState& state) {
    const auto& regex = static_cast<const RegexState&>(state).regex;
    return regex ? &*regex : nullptr;
  }
  const Regex& regex() const { return regex_ != nullptr ? *regex_ : *own_; }

  const Regex* regex_ = nullptr;
  std::optional<Regex> own_;
  std::string_view text_;
  bool null_ = false;
  bool ended_ = false;
  size_t at_ = 0;       // where the next search starts
  size_t counted_ = 0;  // bytes whose code points are counted in index_
  int64_t index_ = 0;
};

// {match: …, idx: …, captures: […]}
bson::Value MatchDocument(const Call& call, std::string_view text, const Match& match) {
  const auto part = [&](const std::pair<int64_t, int64_t>& group) {
    if (group.first < 0) return NullValue();
    return call.arena().String(text.substr(static_cast<size_t>(group.first),
                                           static_cast<size_t>(group.second - group.first)));
  };
  ArenaBuilder captures(call.arena(), Type::kArray);
  for (size_t i = 1; i < match.groups.size(); ++i) captures.Add(part(match.groups[i]));
  ArenaBuilder document(call.arena(), Type::kObject);
  document.Append("match", part(match.groups[0]));
  document.Append("idx", call.arena().Int32(static_cast<int32_t>(match.index)));
  document.Append("captures", captures.Finish());
  return document.Finish();
}

absl::StatusOr<bson::Value> EvalRegexMatch(const Call& call) {
  EVENKEEL_ASSIGN_OR_RETURN(const Matches matches, Matches::Of(call));
  return BoolValue(matches.Any());
}

absl::StatusOr<bson::Value> EvalRegexFind(const Call& call) {
  EVENKEEL_ASSIGN_OR_RETURN(Matches matches, Matches::Of(call));
  Match match;
  if (!matches.Next(&match)) return NullValue();
  return MatchDocument(call, matches.text(), match);
}

absl::StatusOr<bson::Value> EvalRegexFindAll(const Call& call) {
  EVENKEEL_ASSIGN_OR_RETURN(Matches matches, Matches::Of(call));
  ArenaBuilder found(call.arena(), Type::kArray);
  for (Match match; matches.Next(&match);) {
    found.Add(MatchDocument(call, matches.text(), match));
    if (call.arena().OverLimit()) {
      return Error(Location(51151), "{}: the size of buffered matches exceeds the limit",
                   call.op.name);
    }
  }
  return found.Finish();
}

constexpr NamedArg kArgs[] = {{.name = "input", .required = true, .missing = Location(31022)},
                              {.name = "regex", .required = true, .missing = Location(31023)},
                              {.name = "options"}};

constexpr ExprOp Row(std::string_view name, EvalFn eval, std::string_view spec,
                     std::string_view tests) {
  return {.name = name,
          .parse = ParseNamed,
          .eval = eval,
          .prepare = PrepareRegex,
          .named = kArgs,
          .not_object = Location(51103),
          .unknown_name = Location(31024),
          .spec = spec,
          .tests = tests};
}

constexpr ExprOp kRows[] = {
    Row("$regexFind", EvalRegexFind, "operator/aggregation/regexFind",
        "expressions/string/regexFind"),
    Row("$regexFindAll", EvalRegexFindAll, "operator/aggregation/regexFindAll",
        "expressions/string/regexFindAll"),
    Row("$regexMatch", EvalRegexMatch, "operator/aggregation/regexMatch",
        "expressions/string/regexMatch"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> StringRegexOps() { return kRows; }

}  // namespace evenkeel::query::expr
