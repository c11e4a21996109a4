// Intervals of values that a filter allows on one path: for index scans and for routing.
//
// Intervals are over values in comparison order, ascending and disjoint within a list. A missing
// field counts as null, as in index keys; an array counts by its elements, and an empty array as
// undefined.
//
// Invariants
//   B1  A list covers every value through which a document can match; only `exact` lists cover
//   nothing else. B2  With arrays possible, the conditions of a conjunction are never intersected:
//   different elements may satisfy them.
#pragma once

#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "query/match/filter.h"
#include "query/match/predicate.h"

namespace evenkeel::query {

// One interval of one field, over values in comparison order.
struct Interval {
  bson::OwnedValue low, high;  // missing: the end of the order on that side (unbounded)
  bool low_inclusive = true, high_inclusive = true;

  bool IsPoint() const;
  bool IsUnbounded() const { return low.value().missing() && high.value().missing(); }
  bool Contains(bson::Value value) const;
};

using IntervalList = std::vector<Interval>;

struct PathBounds {
  IntervalList intervals;  // empty: nothing can match
  // Every document with a value in the intervals satisfies the conditions that they come from.
  bool exact = false;
  // The conditions hold only for documents that have the field: a sparse index has them all.
  bool needs_value = false;
  // How many of the filter's conjuncts the intervals come from.
  size_t conjuncts = 0;

  bool IsUnbounded() const { return intervals.size() == 1 && intervals[0].IsUnbounded(); }
  bool ArePoints() const;
};

// The interval list without limits.
IntervalList AllValues();
// Both arguments sorted and disjoint, the result too.
IntervalList Intersect(const IntervalList& a, const IntervalList& b);
IntervalList Union(IntervalList a, const IntervalList& b);
// True when every value of `inner` lies in `outer`.
bool IsWithin(const IntervalList& inner, const IntervalList& outer);

// What one condition allows. A negated one is not looked at: all values.
//
// keys  the collation of the index that the intervals are for, null for bytes: its strings are sort
//       keys. Conditions on strings by other rules allow all values.
PathBounds BoundsOfPredicate(const Predicate& predicate,
                             const bson::StringComparator* keys = nullptr);

// What a filter allows on `path`: its conjuncts on that path, and disjunctions that are about it in
// every branch.
//
// may_be_array  documents may have arrays on the path; false for shard keys.
// keys          as for BoundsOfPredicate.
PathBounds BoundsOf(const MatchNode& root, std::string_view path, bool may_be_array,
                    const bson::StringComparator* keys = nullptr);
inline PathBounds BoundsOf(const Filter& filter, std::string_view path, bool may_be_array,
                           const bson::StringComparator* keys = nullptr) {
  return BoundsOf(filter.root(), path, may_be_array, keys);
}

// How many conditions a filter's conjunction has.
size_t CountConjuncts(const MatchNode& root);
// True when no document can match: a conjunct that is never true.
bool IsNeverTrue(const MatchNode& root);

}  // namespace evenkeel::query
