// Match operators that compute: $alwaysFalse $alwaysTrue $comment $expr $mod $options $regex, and
// the known ones that are not supported yet ($jsonSchema $sampleRate $text $where).
#include <cmath>
#include <memory>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

class ModPredicate final : public Predicate {
 public:
  ModPredicate(int64_t divisor, int64_t remainder)
      : Predicate(PredicateKind::kMod), divisor_(divisor), remainder_(remainder) {}
  bool Matches(Value value, MatchDetails&) const override {
    if (!value.IsNumber()) return false;
    const double real = bson::ToDouble(value);
    // Beyond 64 bits there is no remainder to speak of.
    if (!std::isfinite(real) || real >= 0x1p63 || real < -0x1p63) return false;
    const int64_t number = bson::ToInt64Truncated(value);
    return (divisor_ == -1 ? 0 : number % divisor_) == remainder_;
  }

 private:
  int64_t divisor_;
  int64_t remainder_;
};

absl::StatusOr<int64_t> ModPart(Value value, std::string_view what) {
  if (!value.IsNumber()) return Bad("malformed mod, {} not a number", what);
  const double real = bson::ToDouble(value);
  if (!std::isfinite(real) || real >= 0x1p63 || real < -0x1p63) {
    return Bad("malformed mod, {} value is invalid: out of range for a 64-bit integer: {}", what,
               bson::ToDisplay(value));
  }
  return bson::ToInt64Truncated(value);
}

absl::StatusOr<Condition> ParseMod(Parser&, const FieldUse& use) {
  if (!use.operand.Is(Type::kArray)) return Bad("malformed mod, needs to be an array");
  const View parts = use.operand.AsDocument();
  const size_t count = parts.CountFields();
  if (count < 2) return Bad("malformed mod, not enough elements");
  if (count > 2) return Bad("malformed mod, too many elements");
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t divisor, ModPart(parts["0"], "divisor"));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t remainder, ModPart(parts["1"], "remainder"));
  if (divisor == 0) return Bad("divisor cannot be 0");
  return Condition::Of(std::make_unique<ModPredicate>(divisor, remainder));
}

// The text of $regex: a string's or a regular expression's.
absl::StatusOr<std::string_view> PatternOf(Value value) {
  if (value.Is(Type::kString)) return value.AsString();
  if (value.Is(Type::kRegex)) return value.AsRegex().pattern;
  return Bad("$regex has to be a string");
}

absl::StatusOr<Condition> ParseRegex(Parser&, const FieldUse& use) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view pattern, PatternOf(use.operand));
  const Value options = use.siblings["$options"];
  std::string_view flags = use.operand.Is(Type::kRegex) ? use.operand.AsRegex().options : "";
  if (!options.missing()) {
    if (!options.Is(Type::kString)) return Bad("$options has to be a string");
    if (!flags.empty()) return Error(Location(51075), "options set in both $regex and $options");
    flags = options.AsString();
  }
  EVENKEEL_ASSIGN_OR_RETURN(Regex regex, Regex::Compile(pattern, flags));
  return Condition::Of(std::make_unique<RegexPredicate>(std::move(regex)));
}

absl::StatusOr<Condition> ParseOptions(Parser&, const FieldUse& use) {
  if (use.siblings["$regex"].missing()) return Bad("$options needs a $regex");
  return Condition();
}

absl::StatusOr<MatchNodePtr> ParseExpr(Parser& parser, Value operand) {
  if (parser.is_nested()) return Bad("$expr can only be applied to the top-level document");
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr expression, Expression::Parse(operand, parser.context()));
  return MatchNodePtr(std::make_unique<ExprNode>(std::move(expression), parser.context()));
}

absl::StatusOr<MatchNodePtr> ParseCommentTop(Parser&, Value) { return MatchNodePtr(); }
absl::StatusOr<Condition> ParseCommentField(Parser&, const FieldUse&) { return Condition(); }

absl::StatusOr<MatchNodePtr> ParseConstant(Value operand, std::string_view name, bool result) {
  if (!operand.IsNumber() || bson::ToInt64Exact(operand) != 1) {
    return Error(ErrorCode::kFailedToParse, "{} must be an integer value of 1", name);
  }
  return MatchNodePtr(std::make_unique<ConstantNode>(result));
}

absl::StatusOr<MatchNodePtr> ParseAlwaysTrue(Parser&, Value operand) {
  return ParseConstant(operand, "$alwaysTrue", true);
}
absl::StatusOr<MatchNodePtr> ParseAlwaysFalse(Parser&, Value operand) {
  return ParseConstant(operand, "$alwaysFalse", false);
}

constexpr MatchOp kEvaluationOps[] = {
    {.name = "$alwaysFalse",
     .place = Place::kTop,
     .parse_top = ParseAlwaysFalse,
     .spec = "operator/query"},
    {.name = "$alwaysTrue",
     .place = Place::kTop,
     .parse_top = ParseAlwaysTrue,
     .spec = "operator/query"},
    {.name = "$comment",
     .place = Place::kTop,
     .parse_top = ParseCommentTop,
     .parse_field = ParseCommentField,
     .spec = "operator/query/comment",
     .tests = "query"},
    {.name = "$expr",
     .place = Place::kTop,
     .parse_top = ParseExpr,
     .spec = "operator/query/expr",
     .tests = "query/misc/expr"},
    {.name = "$jsonSchema",
     .place = Place::kTop,
     .spec = "operator/query/jsonSchema",
     .tests = "query/misc/jsonSchema"},
    {.name = "$mod",
     .place = Place::kField,
     .parse_field = ParseMod,
     .spec = "operator/query/mod",
     .tests = "query/misc/mod"},
    {.name = "$options",
     .place = Place::kField,
     .parse_field = ParseOptions,
     .spec = "operator/query/regex",
     .tests = "query/misc/regex"},
    {.name = "$regex",
     .place = Place::kField,
     .parse_field = ParseRegex,
     .spec = "operator/query/regex",
     .tests = "query/misc/regex"},
    {.name = "$sampleRate", .place = Place::kTop, .spec = "operator/aggregation/sampleRate"},
    {.name = "$text", .place = Place::kTop, .spec = "operator/query/text", .tests = "query/text"},
    {.name = "$where", .place = Place::kTop, .spec = "operator/query/where", .tests = "query"},
};
static_assert(RowsAreInOrder(kEvaluationOps));

}  // namespace

std::span<const MatchOp> EvaluationOps() { return kEvaluationOps; }

}  // namespace evenkeel::query::match
