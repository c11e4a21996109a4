// Decides whether a filter's documents all lie in a partial index.
#include "query/match/node.h"
#include "query/plan/bounds.h"
#include "query/plan/planner.h"

namespace evenkeel::query {
namespace {

// One conjunct of the index's filter against the whole filter of the query.
bool ImpliesNode(const Filter& filter, const MatchNode& wanted) {
  switch (wanted.kind()) {
    case MatchKind::kAnd: {
      for (const MatchNodePtr& child : static_cast<const LogicalNode&>(wanted).children()) {
        if (!ImpliesNode(filter, *child)) return false;
      }
      return true;
    }
    case MatchKind::kOr: {
      for (const MatchNodePtr& child : static_cast<const LogicalNode&>(wanted).children()) {
        if (ImpliesNode(filter, *child)) return true;
      }
      return false;
    }
    case MatchKind::kConstant:
      return static_cast<const ConstantNode&>(wanted).result();
    case MatchKind::kPath: {
      const auto& leaf = static_cast<const PathNode&>(wanted);
      if (leaf.negated()) return false;
      // Arrays may be anywhere: the query's conditions are taken one by one.
      const PathBounds given = BoundsOf(filter, leaf.path().dotted(), true);
      if (given.conjuncts == 0) return false;
      if (leaf.predicate().kind() == PredicateKind::kExists) return given.needs_value;
      const PathBounds needed = BoundsOfPredicate(leaf.predicate());
      return needed.exact && IsWithin(given.intervals, needed.intervals);
    }
    default:
      return false;
  }
}

}  // namespace

bool Implies(const Filter& filter, const Filter& partial) {
  return ImpliesNode(filter, partial.root());
}

}  // namespace evenkeel::query
