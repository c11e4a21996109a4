// Implements the choice of a plan.
#include "query/plan/planner.h"

#include <algorithm>
#include <optional>

#include "base/bson/compare.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/bson/sort_keys.h"
#include "base/status.h"
#include "query/match/node.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

// A plan with what it is worth.
struct Candidate {
  Plan plan;
  int score = 0;
};

constexpr int kScorePerPointField = 10;
constexpr int kScoreRange = 5;
constexpr int kScoreSorted = 3;
constexpr int kScoreUnique = 100;  // all fields of a unique index are given: one document

bool HasSort(const PlanRequest& request) { return request.sort && !request.sort->empty(); }

// The bounds of an index's leading fields, and what they do for the filter.
struct IndexBounds {
  std::vector<IntervalList> fields;
  size_t point_fields = 0;   // leading fields with sets of points
  size_t single_fields = 0;  // leading fields with exactly one point
  bool has_range = false;
  bool exact = true;
  bool needs_value = false;  // the conditions on some field hold only where it exists
  bool nothing = false;
  size_t conjuncts = 0;
};

bool SharesTopField(const IndexDescription& index, size_t field, size_t before) {
  for (size_t i = 0; i < before; ++i) {
    if (index.fields[i].path.part(0) == index.fields[field].path.part(0)) return true;
  }
  return false;
}

IndexBounds BoundsOfIndex(const IndexDescription& index, const Filter& filter) {
  IndexBounds out;
  for (size_t i = 0; i < index.fields.size(); ++i) {
    // Two fields of one array may match through different elements.
    if (index.multikey && SharesTopField(index, i, i)) break;
    PathBounds bounds =
        BoundsOf(filter, index.fields[i].path.dotted(), index.multikey, index.collation);
    if (bounds.needs_value) out.needs_value = true;
    if (bounds.intervals.empty()) out.nothing = true;
    if (bounds.conjuncts == 0 || bounds.IsUnbounded()) break;
    const bool points = bounds.ArePoints();
    if (index.hashed[i] && !points) break;
    out.exact &= bounds.exact && !index.hashed[i];
    out.conjuncts += bounds.conjuncts;
    const bool all_single = out.single_fields == i;
    if (points && all_single && bounds.intervals.size() == 1) ++out.single_fields;
    out.fields.push_back(std::move(bounds.intervals));
    if (!points) {
      out.has_range = true;
      break;
    }
    ++out.point_fields;
  }
  return out;
}

// Whether the index gives the wanted order, and in which direction it must be read.
struct OrderOfIndex {
  bool sorted = false;
  bool reverse = false;
};

OrderOfIndex OrderFor(const IndexDescription& index, const IndexBounds& bounds,
                      const SortPattern& sort) {
  if (index.multikey) return {};
  // Fields held at one value may stand anywhere in the wanted order.
  const auto is_single = [&](const std::string& path) {
    for (size_t i = 0; i < bounds.single_fields; ++i) {
      if (index.fields[i].path.dotted() == path) return true;
    }
    return false;
  };
  std::optional<bool> reverse;
  size_t at = bounds.single_fields;
  for (const SortField& field : sort.fields()) {
    if (is_single(field.path.dotted())) continue;
    if (at == index.fields.size() || index.hashed[at] ||
        index.fields[at].path.dotted() != field.path.dotted()) {
      return {};
    }
    const bool opposite = index.fields[at].ascending != field.ascending;
    if (reverse && *reverse != opposite) return {};
    reverse = opposite;
    ++at;
  }
  return {true, reverse.value_or(false)};
}

// True when the index has an entry for every document that can match.
bool HasAll(const IndexDescription& index, const IndexBounds& bounds, const Filter& filter) {
  if (index.sparse && !bounds.needs_value) return false;
  return !index.partial || Implies(filter, *index.partial);
}

Candidate MakeCandidate(const IndexDescription& index, IndexBounds bounds,
                        const PlanRequest& request) {
  Candidate out;
  const OrderOfIndex order = HasSort(request) && request.collation == index.collation
                                 ? OrderFor(index, bounds, *request.sort)
                                 : OrderOfIndex{};
  out.plan.kind = bounds.nothing ? PlanKind::kNothing : PlanKind::kIndexScan;
  out.plan.index = &index;
  out.plan.sorted = order.sorted;
  out.plan.reverse = order.sorted && order.reverse;
  out.plan.exact = bounds.exact && bounds.conjuncts == CountConjuncts(request.filter->root());
  out.score = static_cast<int>(bounds.point_fields) * kScorePerPointField +
              (bounds.has_range ? kScoreRange : 0) + (order.sorted ? kScoreSorted : 0);
  if (index.unique && bounds.single_fields == index.fields.size()) out.score += kScoreUnique;
  out.plan.bounds = std::move(bounds.fields);
  return out;
}

// The rules by which `_id` is kept.
const bson::StringComparator* IdCollation(const std::vector<IndexDescription>& indexes) {
  for (const IndexDescription& index : indexes) {
    if (index.name == "_id_") return index.collation;
  }
  return nullptr;
}

// A point read when the filter pins _id. A value pinned by bytes may be kept by other rules.
std::optional<Plan> PlanById(const PlanRequest& request,
                             const std::vector<IndexDescription>& indexes) {
  const std::optional<std::vector<Value>> ids = request.filter->PinnedValues("_id");
  if (!ids) return std::nullopt;
  if (IdCollation(indexes) != nullptr &&
      std::any_of(ids->begin(), ids->end(), bson::HasCollatedOrder)) {
    return std::nullopt;
  }
  Plan plan;
  plan.kind = PlanKind::kById;
  for (const Value id : *ids) plan.ids.emplace_back(id);
  plan.exact = CountConjuncts(request.filter->root()) == 1;
  plan.sorted = ids->size() <= 1;
  if (!plan.sorted && HasSort(request) && request.sort->fields()[0].path.dotted() == "_id") {
    plan.sorted = true;
    plan.reverse = !request.sort->fields()[0].ascending;
  }
  return plan;
}

bool SamePattern(const IndexDescription& index, View pattern) {
  size_t i = 0;
  for (const Element& field : pattern) {
    if (i == index.fields.size() || index.fields[i].path.dotted() != field.key) return false;
    if (field.value.Is(Type::kString)) {
      if (!index.hashed[i] || field.value.AsString() != "hashed") return false;
    } else {
      const std::optional<int64_t> direction =
          field.value.IsNumber() ? bson::ToInt64Exact(field.value) : std::nullopt;
      if (index.hashed[i] || direction != (index.fields[i].ascending ? 1 : -1)) return false;
    }
    ++i;
  }
  return i == index.fields.size();
}

absl::Status BadHint(Value hint) {
  return Error(
      ErrorCode::kBadValue,
      "error processing query: planner returned error :: caused by :: hint provided does not "
      "correspond to an existing index: {}",
      bson::ToDisplay(hint));
}

absl::StatusOr<Plan> PlanNatural(Value hint) {
  const Element only = hint.AsDocument().Front();
  const std::optional<int64_t> direction =
      only.value.IsNumber() ? bson::ToInt64Exact(only.value) : std::nullopt;
  if (hint.AsDocument().CountFields() != 1 || (direction != 1 && direction != -1)) {
    return Error(ErrorCode::kBadValue, "$natural hint must be 1 or -1 and stand alone: {}",
                 bson::ToDisplay(hint));
  }
  Plan plan;
  plan.reverse = *direction == -1;
  return plan;
}

absl::StatusOr<Plan> PlanByHint(const PlanRequest& request,
                                const std::vector<IndexDescription>& indexes) {
  const Value hint = request.hint;
  if (hint.Is(Type::kObject) && hint.AsDocument().Contains("$natural")) return PlanNatural(hint);
  for (const IndexDescription& index : indexes) {
    const bool named = hint.Is(Type::kString)
                           ? hint.AsString() == index.name
                           : hint.Is(Type::kObject) && SamePattern(index, hint.AsDocument());
    if (!named) continue;
    if (index.partial && !Implies(*request.filter, *index.partial)) {
      return Error(
          ErrorCode::kNoQueryExecutionPlans,
          "error processing query: the hinted partial index {} does not hold all documents of the "
          "filter",
          index.name);
    }
    Plan plan = MakeCandidate(index, BoundsOfIndex(index, *request.filter), request).plan;
    // A sparse index lacks documents; that is what the user asked for, but then the filter must not
    // be skipped.
    if (index.sparse) plan.exact = false;
    return plan;
  }
  return BadHint(hint);
}

// The collection in key order gives no order that a client can name; {$natural: ±1} is a hint's.
Plan PlanScan(const PlanRequest& request) {
  Plan plan;
  plan.exact = request.filter->IsTrivial();
  return plan;
}

}  // namespace

absl::StatusOr<Plan> ChoosePlan(const PlanRequest& request,
                                const std::vector<IndexDescription>& indexes) {
  static const Filter kEverything;
  PlanRequest whole = request;
  if (!whole.filter) whole.filter = &kEverything;
  if (whole.hint.Is(Type::kObject) && whole.hint.AsDocument().empty()) whole.hint = Value();
  if (!whole.hint.missing()) return PlanByHint(whole, indexes);
  if (IsNeverTrue(whole.filter->root())) {
    Plan plan;
    plan.kind = PlanKind::kNothing;
    plan.sorted = true;
    return plan;
  }
  if (std::optional<Plan> plan = PlanById(whole, indexes)) return *std::move(plan);
  std::optional<Candidate> best;
  for (const IndexDescription& index : indexes) {
    IndexBounds bounds = BoundsOfIndex(index, *whole.filter);
    if (!HasAll(index, bounds, *whole.filter)) continue;
    Candidate candidate = MakeCandidate(index, std::move(bounds), whole);
    if (candidate.plan.kind == PlanKind::kNothing) return candidate.plan;
    if (candidate.score > 0 && (!best || candidate.score > best->score))
      best = std::move(candidate);
  }
  return best ? std::move(best->plan) : PlanScan(whole);
}

}  // namespace evenkeel::query
