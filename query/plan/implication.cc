// Decides whether a filter's documents all lie in a partial index.
#include "query/match/node.h"
#include "query/plan/bounds.h"
#include "query/plan/planner.h"

namespace evenkeel::query {
namespace {

// One condition of the index's filter against one of the query's.
bool ImpliesCondition(const MatchNode& given, const PathNode& wanted) {
  // Arrays may be anywhere: the query's conditions are taken one by one.
  const PathBounds bounds = BoundsOf(given, wanted.path().dotted(), true);
  if (bounds.conjuncts == 0) return false;
  if (wanted.predicate().kind() == PredicateKind::kExists) return bounds.needs_value;
  const PathBounds needed = BoundsOfPredicate(wanted.predicate());
  return needed.exact && IsWithin(bounds.intervals, needed.intervals);
}

bool ImpliesPath(const MatchNode& given, const PathNode& wanted) {
  if (wanted.negated()) return false;
  if (given.kind() != MatchKind::kAnd) return ImpliesCondition(given, wanted);
  for (const MatchNodePtr& child : static_cast<const LogicalNode&>(given).children()) {
    if (ImpliesCondition(*child, wanted)) return true;
  }
  return false;
}

bool ImpliesNode(const MatchNode& given, const MatchNode& wanted) {
  switch (wanted.kind()) {
    case MatchKind::kAnd: {
      for (const MatchNodePtr& child : static_cast<const LogicalNode&>(wanted).children()) {
        if (!ImpliesNode(given, *child)) return false;
      }
      return true;
    }
    case MatchKind::kOr: {
      for (const MatchNodePtr& child : static_cast<const LogicalNode&>(wanted).children()) {
        if (ImpliesNode(given, *child)) return true;
      }
      return false;
    }
    case MatchKind::kConstant:
      return static_cast<const ConstantNode&>(wanted).result();
    case MatchKind::kPath:
      return ImpliesPath(given, static_cast<const PathNode&>(wanted));
    default:
      return false;
  }
}

}  // namespace

bool Implies(const Filter& filter, const Filter& partial) {
  return ImpliesNode(filter.root(), partial.root());
}

}  // namespace evenkeel::query
