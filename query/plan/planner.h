// Chooses how to find the documents of a filter: by document key, by an index with bounds, or by a scan.
//
// Knows indexes by their descriptions only; storage turns bounds into key ranges.
#pragma once

#include <string>
#include <vector>

#include "base/bson/document.h"
#include "base/types.h"
#include "query/match/filter.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

// One interval of one field, over values in comparison order.
struct Interval {
  bson::OwnedValue low, high;  // missing: the end of the type bracket's order on that side (unbounded)
  bool low_inclusive = true, high_inclusive = true;
  bool IsPoint() const;
};

struct IndexDescription {
  IndexId id;
  std::string name;
  std::vector<SortField> fields;  // direction of each; "hashed" fields: see hashed
  std::vector<bool> hashed;
  bool unique = false;
  bool multikey = false;          // some document has an array on an indexed path
  bool sparse = false;
  const Filter* partial = nullptr;
};

enum class PlanKind : uint8_t { kNothing, kById, kIndexScan, kCollectionScan };

struct Plan {
  PlanKind kind = PlanKind::kCollectionScan;
  const IndexDescription* index = nullptr;
  // kById: the _id values. kIndexScan: per field, its intervals in order (later fields may be absent: all values).
  std::vector<bson::OwnedValue> ids;
  std::vector<std::vector<Interval>> bounds;
  bool reverse = false;
  bool sorted = false;       // documents come in the wanted order
  bool exact = false;        // bounds alone decide: the filter need not be checked again
};

struct PlanRequest {
  const Filter* filter = nullptr;
  const SortPattern* sort = nullptr;  // null or empty: any order
  bson::Value hint;                   // index name, key pattern, {$natural: ±1}, or missing
};

// `indexes` must outlive the plan. `id_is_docs_key`: _id alone addresses documents. Errors: BadValue for a hint that names no index.
absl::StatusOr<Plan> ChoosePlan(const PlanRequest& request, const std::vector<IndexDescription>& indexes);

// The plan as explain's winningPlan shows it (stage names IDHACK, IXSCAN, FETCH, COLLSCAN, SORT …).
bson::Document ExplainPlan(const Plan& plan, const PlanRequest& request);

}  // namespace evenkeel::query
