// Match operators that compare: $eq $gt $gte $in $lt $lte $ne $nin.
#include <memory>
#include <vector>

#include "base/bson/json.h"
#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;

absl::StatusOr<Condition> Compare(Parser& parser, const FieldUse& use, PredicateKind kind) {
  if (use.operand.Is(Type::kUndefined)) return Bad("cannot compare to undefined");
  const bool equality = kind == PredicateKind::kEqual;
  if (use.operand.Is(Type::kRegex) && !equality) {
    return Bad("Can't have RegEx as arg to predicate over field: {}", use.name);
  }
  return Condition::Of(
      std::make_unique<ComparisonPredicate>(kind, use.operand, parser.context().collation));
}

absl::StatusOr<Condition> ParseEq(Parser& parser, const FieldUse& use) {
  return Compare(parser, use, PredicateKind::kEqual);
}
absl::StatusOr<Condition> ParseGt(Parser& parser, const FieldUse& use) {
  return Compare(parser, use, PredicateKind::kGreater);
}
absl::StatusOr<Condition> ParseGte(Parser& parser, const FieldUse& use) {
  return Compare(parser, use, PredicateKind::kGreaterOrEqual);
}
absl::StatusOr<Condition> ParseLt(Parser& parser, const FieldUse& use) {
  return Compare(parser, use, PredicateKind::kLess);
}
absl::StatusOr<Condition> ParseLte(Parser& parser, const FieldUse& use) {
  return Compare(parser, use, PredicateKind::kLessOrEqual);
}

absl::StatusOr<Condition> ParseNe(Parser& parser, const FieldUse& use) {
  if (use.operand.Is(Type::kRegex)) return Bad("Can't have regex as arg to $ne.");
  EVENKEEL_ASSIGN_OR_RETURN(Condition equal, Compare(parser, use, PredicateKind::kEqual));
  return Condition::Not(std::move(equal));
}

absl::StatusOr<Condition> ParseIn(Parser& parser, const FieldUse& use) {
  if (!use.operand.Is(Type::kArray)) return Bad("{} needs an array", use.name);
  std::vector<Value> values;
  std::vector<Regex> patterns;
  for (const Element& element : use.operand.AsDocument()) {
    if (element.value.Is(Type::kUndefined)) return Bad("cannot compare to undefined");
    if (IsOperatorObject(element.value)) return Bad("cannot nest $ under {}", use.name);
    if (element.value.Is(Type::kRegex)) {
      const bson::RegexView regex = element.value.AsRegex();
      EVENKEEL_ASSIGN_OR_RETURN(Regex compiled, Regex::Compile(regex.pattern, regex.options));
      patterns.push_back(std::move(compiled));
    } else {
      values.push_back(element.value);
    }
  }
  return Condition::Of(std::make_unique<InPredicate>(std::move(values), std::move(patterns),
                                                     parser.context().collation));
}

absl::StatusOr<Condition> ParseNin(Parser& parser, const FieldUse& use) {
  EVENKEEL_ASSIGN_OR_RETURN(Condition in, ParseIn(parser, use));
  return Condition::Not(std::move(in));
}

constexpr MatchOp kComparisonOps[] = {
    {.name = "$eq",
     .place = Place::kField,
     .parse_field = ParseEq,
     .spec = "operator/query/eq",
     .tests = "query/comparison/eq"},
    {.name = "$gt",
     .place = Place::kField,
     .parse_field = ParseGt,
     .spec = "operator/query/gt",
     .tests = "query/comparison/gt"},
    {.name = "$gte",
     .place = Place::kField,
     .parse_field = ParseGte,
     .spec = "operator/query/gte",
     .tests = "query/comparison/gte"},
    {.name = "$in",
     .place = Place::kField,
     .parse_field = ParseIn,
     .spec = "operator/query/in",
     .tests = "query/comparison/in"},
    {.name = "$lt",
     .place = Place::kField,
     .parse_field = ParseLt,
     .spec = "operator/query/lt",
     .tests = "query/comparison/lt"},
    {.name = "$lte",
     .place = Place::kField,
     .parse_field = ParseLte,
     .spec = "operator/query/lte",
     .tests = "query/comparison/lte"},
    {.name = "$ne",
     .place = Place::kField,
     .parse_field = ParseNe,
     .spec = "operator/query/ne",
     .tests = "query/comparison/ne"},
    {.name = "$nin",
     .place = Place::kField,
     .parse_field = ParseNin,
     .spec = "operator/query/nin",
     .tests = "query/comparison/nin"},
};
static_assert(RowsAreInOrder(kComparisonOps));

}  // namespace

std::span<const MatchOp> ComparisonOps() { return kComparisonOps; }

}  // namespace evenkeel::query::match
