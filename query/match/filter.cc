// Implements Filter over the tree of nodes.
#include "query/match/filter.h"

#include <algorithm>

#include "base/bson/builder.h"
#include "base/check.h"
#include "query/match/node.h"
#include "query/match/op.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

// Values that equality alone pins: not null (a missing field equals it), not an array (its elements
// are compared too); with a collation equal strings may have different bytes.
bool Pins(Value value, const bson::StringComparator* collation) {
  switch (value.type()) {
    case Type::kNull:
    case Type::kUndefined:
    case Type::kArray:
    case Type::kRegex:
      return false;
    case Type::kString:
    case Type::kSymbol:
    case Type::kObject:
      return collation == nullptr;
    default:
      return true;
  }
}

std::optional<std::vector<Value>> PinnedByNode(const PathNode& node) {
  if (node.negated()) return std::nullopt;
  if (node.predicate().kind() == PredicateKind::kEqual) {
    const auto& equal = static_cast<const ComparisonPredicate&>(node.predicate());
    if (!Pins(equal.operand(), equal.collation())) return std::nullopt;
    return std::vector<Value>{equal.operand()};
  }
  if (node.predicate().kind() != PredicateKind::kIn) return std::nullopt;
  const auto& in = static_cast<const InPredicate&>(node.predicate());
  if (in.has_patterns()) return std::nullopt;
  for (const Value value : in.values()) {
    if (!Pins(value, in.collation())) return std::nullopt;
  }
  return in.values();
}

// The smallest set that a conjunction pins `path` to.
void FindPins(const MatchNode& node, std::string_view path,
              std::optional<std::vector<Value>>* best) {
  if (node.kind() == MatchKind::kAnd) {
    for (const MatchNodePtr& child : static_cast<const LogicalNode&>(node).children()) {
      FindPins(*child, path, best);
    }
    return;
  }
  if (node.kind() != MatchKind::kPath) return;
  const auto& leaf = static_cast<const PathNode&>(node);
  if (leaf.path().dotted() != path) return;
  std::optional<std::vector<Value>> pinned = PinnedByNode(leaf);
  if (pinned && (!*best || pinned->size() < (*best)->size())) *best = std::move(pinned);
}

void CollectEqualities(const MatchNode& node, std::vector<Element>* out) {
  if (node.kind() == MatchKind::kAnd) {
    for (const MatchNodePtr& child : static_cast<const LogicalNode&>(node).children()) {
      CollectEqualities(*child, out);
    }
    return;
  }
  if (node.kind() != MatchKind::kPath) return;
  const auto& leaf = static_cast<const PathNode&>(node);
  if (leaf.negated()) return;
  if (leaf.predicate().kind() == PredicateKind::kEqual) {
    const auto& equal = static_cast<const ComparisonPredicate&>(leaf.predicate());
    out->push_back({leaf.path().dotted(), equal.operand()});
  } else if (leaf.predicate().kind() == PredicateKind::kIn) {
    const auto& in = static_cast<const InPredicate&>(leaf.predicate());
    if (in.values().size() == 1 && !in.has_patterns()) {
      out->push_back({leaf.path().dotted(), in.values().front()});
    }
  }
}

bool ContainsExpression(const MatchNode& node) {
  if (node.kind() == MatchKind::kExpr) return true;
  const LogicalNode* logical = AsLogical(node);
  return logical && std::any_of(logical->children().begin(), logical->children().end(),
                                [](const auto& child) { return ContainsExpression(*child); });
}

}  // namespace

Filter::Filter() : Filter(std::make_unique<const bson::Document>()) { root_ = match::MakeAnd({}); }

Filter::Filter(std::unique_ptr<const bson::Document> source) : source_(std::move(source)) {}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

absl::StatusOr<Filter> Filter::Parse(View filter, const QueryContext& context) {
  Filter out(std::make_unique<const bson::Document>(filter));
  match::Parser parser(context);
  EVENKEEL_ASSIGN_OR_RETURN(out.root_, parser.ParseFilter(out.source_->view()));
  return out;
}

absl::StatusOr<Filter> Filter::ParseValue(View operators, const QueryContext& context) {
  Filter out(std::make_unique<const bson::Document>(operators));
  match::Parser parser(context);
  EVENKEEL_ASSIGN_OR_RETURN(match::Condition condition, parser.ParseOperators(out.source_->view()));
  out.root_ = match::MakeNode("value", std::move(condition));
  return out;
}

bool Filter::Matches(View document) const {
  MatchDetails details;
  return root_->Matches(document, details);
}

absl::StatusOr<bool> Filter::Evaluate(View document) const {
  MatchDetails details;
  const bool matches = root_->Matches(document, details);
  if (!details.error.ok()) return details.error;
  return matches;
}

bool Filter::HasExpression() const { return ContainsExpression(*root_); }

bool Filter::MatchesValue(Value value) const {
  MatchDetails details;
  return root_->MatchesBound(value, details);
}

std::optional<int64_t> Filter::MatchedPosition(View document) const {
  MatchDetails details;
  if (!root_->Matches(document, details) || details.position == match::kNoPosition) {
    return std::nullopt;
  }
  return details.position;
}

std::optional<int64_t> Filter::MatchedPositionOfValue(Value value) const {
  MatchDetails details;
  if (!root_->MatchesBound(value, details) || details.position == match::kNoPosition) {
    return std::nullopt;
  }
  return details.position;
}

bool Filter::IsTrivial() const {
  return root_->kind() == MatchKind::kAnd &&
         static_cast<const LogicalNode&>(*root_).children().empty();
}

View Filter::source() const { return source_->view(); }

std::optional<std::vector<Value>> Filter::PinnedValues(std::string_view path) const {
  std::optional<std::vector<Value>> best;
  FindPins(*root_, path, &best);
  return best;
}

std::vector<Element> Filter::Equalities() const {
  std::vector<Element> out;
  CollectEqualities(*root_, &out);
  return out;
}

std::string_view Filter::CommonField() const { return root_->CommonField(); }

const MatchNode& Filter::root() const { return *root_; }

}  // namespace evenkeel::query
