// Chooses how to find the documents of a filter: by document key, by an index with bounds, or by a
// scan.
//
// Knows indexes by their descriptions only; storage turns bounds into key ranges. Pure: no
// statistics, no data; of two usable indexes the one with more equalities, then a range, then the
// wanted order wins.
//
// Invariants
//   P1  A plan's bounds let through every document that matches; the filter is checked again unless
//   `exact`. P2  Points on leading fields come first; after the first field that is no set of
//   points no other field is bounded.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "base/bson/document.h"
#include "base/types.h"
#include "query/match/filter.h"
#include "query/plan/bounds.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

struct IndexDescription {
  IndexId id;
  std::string name;
  std::vector<SortField> fields;  // direction of each; "hashed" fields: see hashed
  std::vector<bool> hashed;
  bool unique = false;
  bool multikey = false;  // some document has an array on an indexed path
  bool sparse = false;
  const bson::StringComparator* collation = nullptr;  // its strings are sort keys; null: bytes
  const Filter* partial = nullptr;
};

enum class PlanKind : uint8_t { kNothing, kById, kIndexScan, kCollectionScan };

struct Plan {
  PlanKind kind = PlanKind::kCollectionScan;
  const IndexDescription* index = nullptr;
  // kById: the _id values, in order. kIndexScan: per field, its intervals in order, in terms of the
  // index's keys (later fields may be absent: all values).
  std::vector<bson::OwnedValue> ids;
  std::vector<IntervalList> bounds;
  bool reverse = false;
  bool sorted = false;  // documents come in the wanted order
  bool exact = false;   // bounds alone decide: the filter need not be checked again
};

struct PlanRequest {
  const Filter* filter = nullptr;
  const SortPattern* sort = nullptr;  // null or empty: any order
  bson::Value hint;                   // index name, key pattern, {$natural: ±1}, or missing
  // How strings compare; null: by bytes. Only an index of the same rules gives their order.
  const bson::StringComparator* collation = nullptr;
};

// `indexes` must outlive the plan.
// Errors: BadValue for a hint that names no index or is malformed; NoQueryExecutionPlans (291) for
// a hint to a partial index that may lack documents of the filter.
absl::StatusOr<Plan> ChoosePlan(const PlanRequest& request,
                                const std::vector<IndexDescription>& indexes);

// True when every document that matches `filter` matches `partial`; false also when that cannot be
// told.
bool Implies(const Filter& filter, const Filter& partial);

// The plan as explain's winningPlan shows it (stage names IDHACK, IXSCAN, FETCH, COLLSCAN, SORT …).
bson::Document ExplainPlan(const Plan& plan, const PlanRequest& request);

}  // namespace evenkeel::query
