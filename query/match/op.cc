// Implements the parsing of filters: fields, operators by the table, and the tree.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bson/json.h"
#include "query/match/op.h"
#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

absl::Status Unsupported(std::string_view name) {
  return Error(ErrorCode::kCommandNotSupported, "the query operator {} is not supported", name);
}

absl::Status UnknownOperator(std::string_view name) { return Bad("unknown operator: {}", name); }

// The order in which a conjunction is checked: cheap and selective conditions first. It also
// decides which condition gives the positional operator its place, so it is MongoDB's.
int Rank(const MatchNode& node) {
  if (node.kind() != MatchKind::kPath) return 100;
  const auto& leaf = static_cast<const PathNode&>(node);
  if (leaf.negated()) return 50;
  switch (leaf.predicate().kind()) {
    case PredicateKind::kElemMatchObject:
      return 0;
    case PredicateKind::kElemMatchValue:
      return 1;
    case PredicateKind::kSize:
      return 2;
    case PredicateKind::kEqual:
      return 3;
    case PredicateKind::kLessOrEqual:
      return 4;
    case PredicateKind::kLess:
      return 5;
    case PredicateKind::kGreater:
      return 6;
    case PredicateKind::kGreaterOrEqual:
      return 7;
    default:
      return 10 + static_cast<int>(leaf.predicate().kind());
  }
}

std::string_view PathOf(const MatchNode& node) {
  return node.kind() == MatchKind::kPath ? static_cast<const PathNode&>(node).path().dotted()
                                         : std::string_view();
}

MatchNodePtr MakeLogical(MatchKind kind, std::string_view path, std::vector<Condition> conditions) {
  std::vector<MatchNodePtr> children;
  for (Condition& condition : conditions) {
    children.push_back(MakeNode(path, std::move(condition)));
  }
  if (kind == MatchKind::kAnd) return MakeAnd(std::move(children));
  return std::make_unique<LogicalNode>(kind, std::move(children));
}

}  // namespace

Condition Condition::Of(PredicatePtr predicate) {
  Condition condition;
  condition.kind = Kind::kPredicate;
  condition.predicate = std::move(predicate);
  return condition;
}

Condition Condition::Not(Condition inner) {
  Condition condition;
  condition.kind = Kind::kNot;
  condition.children.push_back(std::move(inner));
  return condition;
}

Condition Condition::Always(bool result) {
  Condition condition;
  condition.kind = Kind::kConstant;
  condition.constant = result;
  return condition;
}

MatchNodePtr MakeNode(std::string_view path, Condition condition) {
  switch (condition.kind) {
    case Condition::Kind::kPredicate:
      return std::make_unique<PathNode>(bson::Path(path), std::move(condition.predicate), false);
    case Condition::Kind::kAll:
      if (condition.children.size() == 1) {
        return MakeNode(path, std::move(condition.children.front()));
      }
      return MakeLogical(MatchKind::kAnd, path, std::move(condition.children));
    case Condition::Kind::kAny:
      return MakeLogical(MatchKind::kOr, path, std::move(condition.children));
    case Condition::Kind::kNot: {
      Condition& inner = condition.children.front();
      if (inner.kind == Condition::Kind::kAll && inner.children.size() == 1) {
        Condition only = std::move(inner.children.front());
        return MakeNode(path, Condition::Not(std::move(only)));
      }
      if (inner.kind == Condition::Kind::kPredicate) {
        return std::make_unique<PathNode>(bson::Path(path), std::move(inner.predicate), true);
      }
      return MakeLogical(MatchKind::kNor, path, std::move(condition.children));
    }
    case Condition::Kind::kConstant:
      break;
  }
  return std::make_unique<ConstantNode>(condition.constant);
}

PredicatePtr MakePredicate(Condition condition) {
  PredicateKind kind = PredicateKind::kAllOf;
  switch (condition.kind) {
    case Condition::Kind::kPredicate:
      return std::move(condition.predicate);
    case Condition::Kind::kConstant:
      return std::make_unique<ConstantPredicate>(condition.constant);
    case Condition::Kind::kAny:
      kind = PredicateKind::kAnyOf;
      break;
    case Condition::Kind::kNot:
      kind = PredicateKind::kNot;
      break;
    case Condition::Kind::kAll:
      break;
  }
  std::vector<PredicatePtr> parts;
  for (Condition& child : condition.children) parts.push_back(MakePredicate(std::move(child)));
  return std::make_unique<CompoundPredicate>(kind, std::move(parts));
}

MatchNodePtr MakeAnd(std::vector<MatchNodePtr> children) {
  std::vector<MatchNodePtr> flat;
  for (MatchNodePtr& child : children) {
    if (child->kind() == MatchKind::kAnd) {
      for (MatchNodePtr& inner : static_cast<LogicalNode&>(*child).TakeChildren()) {
        flat.push_back(std::move(inner));
      }
    } else {
      flat.push_back(std::move(child));
    }
  }
  if (flat.size() == 1) return std::move(flat.front());
  std::stable_sort(flat.begin(), flat.end(), [](const MatchNodePtr& a, const MatchNodePtr& b) {
    return std::pair(Rank(*a), PathOf(*a)) < std::pair(Rank(*b), PathOf(*b));
  });
  return std::make_unique<LogicalNode>(MatchKind::kAnd, std::move(flat));
}

bool IsOperatorObject(Value value) {
  if (!value.Is(Type::kObject)) return false;
  const std::string_view first = value.AsDocument().Front().key;
  return first.starts_with('$') && first != "$ref" && first != "$id" && first != "$db";
}

absl::StatusOr<Condition> Parser::ParseImplicit(Value operand) {
  if (operand.Is(Type::kRegex)) {
    const bson::RegexView regex = operand.AsRegex();
    EVENKEEL_ASSIGN_OR_RETURN(Regex compiled, Regex::Compile(regex.pattern, regex.options));
    return Condition::Of(std::make_unique<RegexPredicate>(std::move(compiled)));
  }
  if (operand.Is(Type::kUndefined)) return Bad("cannot compare to undefined");
  return Condition::Of(
      std::make_unique<ComparisonPredicate>(PredicateKind::kEqual, operand, context_.collation));
}

absl::StatusOr<Condition> Parser::ParseOperators(View operators) {
  Condition all;
  for (const Element& element : operators) {
    const MatchOp* op = element.key.starts_with('$') ? FindOperator(element.key) : nullptr;
    if (!op || (!op->parse_field && op->parse_top)) return UnknownOperator(element.key);
    if (!op->parse_field) {
      return op->place == Place::kField ? Unsupported(element.key) : UnknownOperator(element.key);
    }
    EVENKEEL_ASSIGN_OR_RETURN(Condition condition,
                              op->parse_field(*this, {element.key, element.value, operators}));
    if (condition.kind == Condition::Kind::kAll) {
      std::move(condition.children.begin(), condition.children.end(),
                std::back_inserter(all.children));
    } else {
      all.children.push_back(std::move(condition));
    }
  }
  return all;
}

absl::StatusOr<MatchNodePtr> Parser::ParseTopLevel(const Element& element) {
  const MatchOp* op = FindOperator(element.key);
  if (op && op->parse_top) return op->parse_top(*this, element.value);
  if (op && op->place == Place::kTop && !op->parse_field) return Unsupported(element.key);
  return Bad(
      "unknown top level operator: {}. If you have a field name that starts with a '$' symbol, "
      "consider using $getField or $setField.",
      element.key);
}

absl::StatusOr<MatchNodePtr> Parser::ParseField(const Element& element) {
  absl::StatusOr<Condition> condition = IsOperatorObject(element.value)
                                            ? ParseOperators(element.value.AsDocument())
                                            : ParseImplicit(element.value);
  if (!condition.ok()) return condition.status();
  return MakeNode(element.key, *std::move(condition));
}

absl::StatusOr<MatchNodePtr> Parser::ParseFilter(View filter) {
  std::vector<MatchNodePtr> children;
  for (const Element& element : filter) {
    const bool is_operator = element.key.starts_with('$') && element.key != "$ref" &&
                             element.key != "$id" && element.key != "$db";
    EVENKEEL_ASSIGN_OR_RETURN(MatchNodePtr child,
                              is_operator ? ParseTopLevel(element) : ParseField(element));
    if (child) children.push_back(std::move(child));
  }
  return MakeAnd(std::move(children));
}

absl::StatusOr<MatchNodePtr> Parser::ParseNestedFilter(View filter) {
  const bool outer = std::exchange(nested_, true);
  absl::StatusOr<MatchNodePtr> node = ParseFilter(filter);
  nested_ = outer;
  return node;
}

}  // namespace evenkeel::query::match
