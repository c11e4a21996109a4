// Match operators that combine: $and $nor $not $or.
#include <memory>
#include <vector>

#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;

absl::StatusOr<MatchNodePtr> ParseList(Parser& parser, Value operand, std::string_view name,
                                       MatchKind kind) {
  if (!operand.Is(Type::kArray)) return Bad("{} must be an array", name);
  std::vector<MatchNodePtr> children;
  for (const Element& element : operand.AsDocument()) {
    if (!element.value.Is(Type::kObject)) {
      return Bad("$or/$and/$nor entries need to be full objects");
    }
    EVENKEEL_ASSIGN_OR_RETURN(MatchNodePtr child, parser.ParseFilter(element.value.AsDocument()));
    children.push_back(std::move(child));
  }
  if (children.empty()) return Bad("{} argument's entries must be a nonempty array", name);
  if (kind == MatchKind::kAnd) return MakeAnd(std::move(children));
  if (kind == MatchKind::kOr && children.size() == 1) return std::move(children.front());
  return MatchNodePtr(std::make_unique<LogicalNode>(kind, std::move(children)));
}

absl::StatusOr<MatchNodePtr> ParseAnd(Parser& parser, Value operand) {
  return ParseList(parser, operand, "$and", MatchKind::kAnd);
}
absl::StatusOr<MatchNodePtr> ParseOr(Parser& parser, Value operand) {
  return ParseList(parser, operand, "$or", MatchKind::kOr);
}
absl::StatusOr<MatchNodePtr> ParseNor(Parser& parser, Value operand) {
  return ParseList(parser, operand, "$nor", MatchKind::kNor);
}

absl::StatusOr<Condition> ParseNot(Parser& parser, const FieldUse& use) {
  if (use.operand.Is(Type::kRegex)) {
    EVENKEEL_ASSIGN_OR_RETURN(Condition regex, parser.ParseImplicit(use.operand));
    return Condition::Not(std::move(regex));
  }
  if (!use.operand.Is(Type::kObject)) return Bad("$not needs a regex or a document");
  const bson::View operators = use.operand.AsDocument();
  if (operators.empty()) return Bad("$not cannot be empty");
  EVENKEEL_ASSIGN_OR_RETURN(Condition inner, parser.ParseOperators(operators));
  return Condition::Not(std::move(inner));
}

constexpr MatchOp kLogicalOps[] = {
    {.name = "$and",
     .place = Place::kTop,
     .parse_top = ParseAnd,
     .spec = "operator/query/and",
     .tests = "query/logical/and"},
    {.name = "$nor",
     .place = Place::kTop,
     .parse_top = ParseNor,
     .spec = "operator/query/nor",
     .tests = "query/logical/nor"},
    {.name = "$not",
     .place = Place::kField,
     .parse_field = ParseNot,
     .spec = "operator/query/not",
     .tests = "query/logical/not"},
    {.name = "$or",
     .place = Place::kTop,
     .parse_top = ParseOr,
     .spec = "operator/query/or",
     .tests = "query/logical/or"},
};
static_assert(RowsAreInOrder(kLogicalOps));

}  // namespace

std::span<const MatchOp> LogicalOps() { return kLogicalOps; }

}  // namespace evenkeel::query::match
