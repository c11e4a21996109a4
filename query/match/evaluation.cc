// Match operators that compute: $alwaysFalse $alwaysTrue $comment $expr $jsonSchema $mod $options
// $regex $sampleRate, and the known ones that are not supported ($text $where).
#include <cmath>
#include <memory>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/random.h"
#include "query/match/schema.h"
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

// Errors where an operator on whole documents stands in $elemMatch.
absl::Status RequireTopLevel(const Parser& parser, std::string_view name) {
  if (!parser.is_nested()) return absl::OkStatus();
  return Bad("{} can only be applied to the top-level document", name);
}

absl::StatusOr<MatchNodePtr> ParseExpr(Parser& parser, Value operand) {
  EVENKEEL_RETURN_IF_ERROR(RequireTopLevel(parser, "$expr"));
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr expression, Expression::Parse(operand, parser.context()));
  return MatchNodePtr(std::make_unique<ExprNode>(std::move(expression), parser.context()));
}

class SchemaNode final : public DocumentNode {
 public:
  explicit SchemaNode(SchemaPtr schema) : schema_(std::move(schema)) {}
  bool Matches(View document, MatchDetails&) const override {
    return schema_->Matches(Value(Type::kObject, document.Bytes().data()));
  }

 private:
  SchemaPtr schema_;
};

absl::StatusOr<MatchNodePtr> ParseJsonSchema(Parser& parser, Value operand) {
  EVENKEEL_RETURN_IF_ERROR(RequireTopLevel(parser, "$jsonSchema"));
  if (!operand.Is(Type::kObject)) {
    return Error(ErrorCode::kTypeMismatch, "$jsonSchema must be an object");
  }
  EVENKEEL_ASSIGN_OR_RETURN(SchemaPtr schema, Schema::Parse(operand.AsDocument()));
  return MatchNodePtr(std::make_unique<SchemaNode>(std::move(schema)));
}

class SampleNode final : public DocumentNode {
 public:
  explicit SampleNode(double rate) : rate_(rate), random_(base::GlobalRandom64()) {}
  bool Matches(View, MatchDetails&) const override { return random_.Chance(rate_); }

 private:
  double rate_;
  mutable base::Random random_;  // a filter is used by one thread at a time
};

absl::StatusOr<MatchNodePtr> ParseSampleRate(Parser&, Value operand) {
  if (!operand.IsNumber()) return Bad("argument to $sampleRate must be a numeric type");
  const double rate = bson::ToDouble(operand);
  if (!(rate >= 0 && rate <= 1)) {
    return Bad("numeric argument to $sampleRate must be in [0, 1], not {}",
               bson::ToDisplay(operand));
  }
  return MatchNodePtr(std::make_unique<SampleNode>(rate));
}

absl::StatusOr<MatchNodePtr> Refuse(const Parser& parser, std::string_view name) {
  EVENKEEL_RETURN_IF_ERROR(RequireTopLevel(parser, name));
  return Error(ErrorCode::kCommandNotSupported, "the query operator {} is not supported", name);
}
absl::StatusOr<MatchNodePtr> ParseText(Parser& parser, Value) { return Refuse(parser, "$text"); }
absl::StatusOr<MatchNodePtr> ParseWhere(Parser& parser, Value) { return Refuse(parser, "$where"); }

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
     .parse_top = ParseJsonSchema,
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
    {.name = "$sampleRate",
     .place = Place::kTop,
     .parse_top = ParseSampleRate,
     .spec = "operator/aggregation/sampleRate"},
    {.name = "$text",
     .place = Place::kTop,
     .parse_top = ParseText,
     .spec = "operator/query/text",
     .tests = "query/text"},
    {.name = "$where",
     .place = Place::kTop,
     .parse_top = ParseWhere,
     .spec = "operator/query/where",
     .tests = "query"},
};
static_assert(RowsAreInOrder(kEvaluationOps));

}  // namespace

std::span<const MatchOp> EvaluationOps() { return kEvaluationOps; }

}  // namespace evenkeel::query::match
