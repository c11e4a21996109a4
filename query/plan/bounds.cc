// Implements interval lists and how conditions become intervals.
#include "query/plan/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/bson/number.h"
#include "base/bson/sort_keys.h"
#include "query/match/node.h"

namespace evenkeel::query {
namespace {

using bson::OwnedValue;
using bson::Type;
using bson::Value;
using bson::View;

// Compares the lower ends; a missing one lies below all.
int CompareLows(const Interval& a, const Interval& b) {
  const bool a_open = a.low.value().missing(), b_open = b.low.value().missing();
  if (a_open || b_open) return a_open == b_open ? 0 : (a_open ? -1 : 1);
  const int order = bson::Compare(a.low, b.low);
  if (order != 0) return order;
  return a.low_inclusive == b.low_inclusive ? 0 : (a.low_inclusive ? -1 : 1);
}

int CompareHighs(const Interval& a, const Interval& b) {
  const bool a_open = a.high.value().missing(), b_open = b.high.value().missing();
  if (a_open || b_open) return a_open == b_open ? 0 : (a_open ? 1 : -1);
  const int order = bson::Compare(a.high, b.high);
  if (order != 0) return order;
  return a.high_inclusive == b.high_inclusive ? 0 : (a.high_inclusive ? 1 : -1);
}

bool IsEmpty(const Interval& interval) {
  if (interval.low.value().missing() || interval.high.value().missing()) return false;
  const int order = bson::Compare(interval.low, interval.high);
  return order > 0 || (order == 0 && !(interval.low_inclusive && interval.high_inclusive));
}

// True when `b` begins inside `a` or right behind it.
bool Touches(const Interval& a, const Interval& b) {
  if (a.high.value().missing() || b.low.value().missing()) return true;
  const int order = bson::Compare(b.low, a.high);
  return order < 0 || (order == 0 && (a.high_inclusive || b.low_inclusive));
}

OwnedValue MakeValue(bson::Builder& builder) {
  const bson::Document document = builder.Finish();
  return OwnedValue(document.view().Front().value);
}

OwnedValue DoubleValue(double value) {
  bson::Builder builder;
  builder.Append("", value);
  return MakeValue(builder);
}

OwnedValue StringValue(std::string_view text) {
  bson::Builder builder;
  builder.Append("", text);
  return MakeValue(builder);
}

OwnedValue EmptyOf(Type type) { return OwnedValue(type, std::string(View().Bytes())); }

// The values that compare like those of `type`: from `low` to `high`. Nothing for types that are
// left to the filter.
std::optional<Interval> BracketOf(Type type) {
  bson::Builder builder;
  switch (type) {
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128:
      return Interval{DoubleValue(-std::numeric_limits<double>::infinity()),
                      DoubleValue(std::numeric_limits<double>::infinity())};
    case Type::kString:
    case Type::kSymbol:
      return Interval{StringValue(""), EmptyOf(Type::kObject), true, false};
    case Type::kObject:
      return Interval{EmptyOf(Type::kObject), EmptyOf(Type::kArray), true, false};
    case Type::kBinary: {
      builder.AppendBinary("", 0, "");
      OwnedValue low = MakeValue(builder);
      builder.AppendObjectId("", std::string(12, '\0'));
      return Interval{std::move(low), MakeValue(builder), true, false};
    }
    case Type::kObjectId: {
      builder.AppendObjectId("", std::string(12, '\0'));
      OwnedValue low = MakeValue(builder);
      builder.AppendObjectId("", std::string(12, '\xff'));
      return Interval{std::move(low), MakeValue(builder)};
    }
    case Type::kBool:
      return Interval{OwnedValue(BoolValue(false)), OwnedValue(BoolValue(true))};
    case Type::kDate: {
      builder.AppendDate("", std::numeric_limits<int64_t>::min());
      OwnedValue low = MakeValue(builder);
      builder.AppendDate("", std::numeric_limits<int64_t>::max());
      return Interval{std::move(low), MakeValue(builder)};
    }
    case Type::kTimestamp: {
      builder.Append("", Timestamp{0});
      OwnedValue low = MakeValue(builder);
      builder.Append("", Timestamp{std::numeric_limits<uint64_t>::max()});
      return Interval{std::move(low), MakeValue(builder)};
    }
    default:
      return std::nullopt;
  }
}

Interval Point(Value value) { return {OwnedValue(value), OwnedValue(value)}; }

PathBounds Unknown() { return {.intervals = AllValues()}; }

// How the strings of conditions and of an index are compared.
struct Rules {
  const bson::StringComparator* condition;
  const bson::StringComparator* keys;

  // The index cannot tell which of its keys satisfy a condition with this operand.
  bool Differ(Value operand) const { return condition != keys && bson::HasCollatedOrder(operand); }
  // The operand as the index keeps it.
  OwnedValue Key(Value operand) const {
    return keys == nullptr ? OwnedValue(operand) : bson::WithSortKeys(operand, *keys);
  }
};

bool IsNaN(Value value) {
  if (value.Is(Type::kDouble)) return std::isnan(value.AsDouble());
  return value.Is(Type::kDecimal128) && bson::DecimalIsNaN(value.AsDecimal128());
}

PathBounds BoundsOfEquality(Value operand, const Rules& rules) {
  if (rules.Differ(operand)) return Unknown();
  const OwnedValue key = rules.Key(operand);
  const Value value = key.value();
  PathBounds bounds{.intervals = {Point(value)}, .exact = true, .needs_value = true};
  if (value.Is(Type::kNull)) {
    // A missing field has the same key; with arrays, undefined elements would too.
    bounds.exact = bounds.needs_value = false;
  } else if (value.Is(Type::kArray)) {
    // Found by its first element, or as an element itself.
    const Value first = value.AsDocument().Front().value;
    static const char kNothing = 0;
    bounds.intervals = Union(bounds.intervals,
                             {Point(first.missing() ? Value(Type::kUndefined, &kNothing) : first)});
    bounds.exact = false;
  } else if (value.Is(Type::kUndefined)) {
    bounds.exact = bounds.needs_value = false;
  }
  return bounds;
}

PathBounds BoundsOfComparison(const ComparisonPredicate& predicate,
                              const bson::StringComparator* keys) {
  const Rules rules{predicate.collation(), keys};
  const PredicateKind kind = predicate.kind();
  if (kind == PredicateKind::kEqual) return BoundsOfEquality(predicate.operand(), rules);
  if (rules.Differ(predicate.operand())) return Unknown();
  const OwnedValue key = rules.Key(predicate.operand());
  const Value operand = key.value();
  const bool inclusive =
      kind == PredicateKind::kLessOrEqual || kind == PredicateKind::kGreaterOrEqual;
  if (operand.Is(Type::kNull)) {
    return inclusive ? BoundsOfEquality(operand, rules) : PathBounds{.exact = true};
  }
  if (IsNaN(operand))
    return inclusive ? BoundsOfEquality(operand, rules) : PathBounds{.exact = true};
  const std::optional<Interval> bracket = BracketOf(operand.type());
  if (!bracket) return Unknown();
  Interval interval = *bracket;
  if (kind == PredicateKind::kLess || kind == PredicateKind::kLessOrEqual) {
    interval.high = OwnedValue(operand);
    interval.high_inclusive = inclusive;
  } else {
    interval.low = OwnedValue(operand);
    interval.low_inclusive = inclusive;
  }
  PathBounds bounds{.exact = true, .needs_value = true};
  if (!IsEmpty(interval)) bounds.intervals.push_back(std::move(interval));
  return bounds;
}

// Strings that begin like a pattern must, and the pattern itself as a value. Sort keys do not show
// how a string begins.
PathBounds BoundsOfRegex(const match::Regex& regex, const bson::StringComparator* keys) {
  PathBounds bounds{.needs_value = true};
  Interval strings = *BracketOf(Type::kString);
  std::string prefix = keys == nullptr ? regex.LiteralPrefix() : std::string();
  if (!prefix.empty()) {
    strings.low = StringValue(prefix);
    while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xFF) prefix.pop_back();
    if (!prefix.empty()) {
      ++prefix.back();
      strings.high = StringValue(prefix);
    }
  }
  bson::Builder builder;
  builder.AppendRegex("", regex.pattern(), regex.options());
  bounds.intervals = {std::move(strings), Point(MakeValue(builder))};
  return bounds;
}

PathBounds BoundsOfIn(const InPredicate& in, const bson::StringComparator* keys) {
  PathBounds all{.exact = true, .needs_value = true};
  if (in.has_patterns()) return Unknown();
  for (const Value value : in.values()) {
    const PathBounds one = BoundsOfEquality(value, {in.collation(), keys});
    all.intervals =
        all.intervals.empty() ? one.intervals : Union(std::move(all.intervals), one.intervals);
    all.exact &= one.exact;
    all.needs_value &= one.needs_value;
  }
  return all;
}

// Lower is better: a finite set of points before ranges, before nothing known.
int Rank(const PathBounds& bounds) {
  if (bounds.ArePoints()) return 0;
  return bounds.IsUnbounded() ? 2 : 1;
}

PathBounds BoundsOfConjunction(const LogicalNode& node, std::string_view path, bool may_be_array,
                               const bson::StringComparator* keys) {
  PathBounds best = Unknown();
  for (const MatchNodePtr& child : node.children()) {
    PathBounds bounds = BoundsOf(*child, path, may_be_array, keys);
    if (bounds.conjuncts == 0) continue;
    if (best.conjuncts == 0) {
      best = std::move(bounds);
    } else if (!may_be_array) {
      best.intervals = Intersect(best.intervals, bounds.intervals);
      best.exact &= bounds.exact;
      best.needs_value |= bounds.needs_value;
      best.conjuncts += bounds.conjuncts;
    } else if (Rank(bounds) < Rank(best)) {
      best = std::move(bounds);
    }
  }
  return best;
}

PathBounds BoundsOfDisjunction(const LogicalNode& node, std::string_view path, bool may_be_array,
                               const bson::StringComparator* keys) {
  PathBounds all{.exact = true, .needs_value = true, .conjuncts = 1};
  for (const MatchNodePtr& child : node.children()) {
    const PathBounds bounds = BoundsOf(*child, path, may_be_array, keys);
    if (bounds.conjuncts == 0) return Unknown();
    all.intervals = Union(std::move(all.intervals), bounds.intervals);
    all.exact &= bounds.exact && bounds.conjuncts == CountConjuncts(*child);
    all.needs_value &= bounds.needs_value;
  }
  return all;
}

}  // namespace

bool Interval::IsPoint() const {
  return !low.value().missing() && !high.value().missing() && low_inclusive && high_inclusive &&
         bson::Compare(low, high) == 0;
}

bool Interval::Contains(Value value) const {
  if (!low.value().missing()) {
    const int order = bson::Compare(value, low);
    if (order < 0 || (order == 0 && !low_inclusive)) return false;
  }
  if (high.value().missing()) return true;
  const int order = bson::Compare(value, high);
  return order < 0 || (order == 0 && high_inclusive);
}

bool PathBounds::ArePoints() const {
  return std::all_of(intervals.begin(), intervals.end(),
                     [](const Interval& i) { return i.IsPoint(); });
}

IntervalList AllValues() { return {Interval()}; }

IntervalList Intersect(const IntervalList& a, const IntervalList& b) {
  IntervalList out;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Interval& later = CompareLows(a[i], b[j]) < 0 ? b[j] : a[i];
    const bool a_ends_first = CompareHighs(a[i], b[j]) <= 0;
    const Interval& earlier = a_ends_first ? a[i] : b[j];
    Interval common{later.low, earlier.high, later.low_inclusive, earlier.high_inclusive};
    if (!IsEmpty(common)) out.push_back(std::move(common));
    a_ends_first ? ++i : ++j;
  }
  return out;
}

IntervalList Union(IntervalList a, const IntervalList& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end(),
            [](const Interval& x, const Interval& y) { return CompareLows(x, y) < 0; });
  IntervalList out;
  for (Interval& interval : a) {
    if (out.empty() || !Touches(out.back(), interval)) {
      out.push_back(std::move(interval));
    } else if (CompareHighs(out.back(), interval) < 0) {
      out.back().high = std::move(interval.high);
      out.back().high_inclusive = interval.high_inclusive;
    }
  }
  return out;
}

bool IsWithin(const IntervalList& inner, const IntervalList& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](const Interval& i) {
    return std::any_of(outer.begin(), outer.end(), [&](const Interval& o) {
      return CompareLows(o, i) <= 0 && CompareHighs(i, o) <= 0;
    });
  });
}

PathBounds BoundsOfPredicate(const Predicate& predicate, const bson::StringComparator* keys) {
  switch (predicate.kind()) {
    case PredicateKind::kEqual:
    case PredicateKind::kLess:
    case PredicateKind::kLessOrEqual:
    case PredicateKind::kGreater:
    case PredicateKind::kGreaterOrEqual:
      return BoundsOfComparison(static_cast<const ComparisonPredicate&>(predicate), keys);
    case PredicateKind::kIn:
      return BoundsOfIn(static_cast<const InPredicate&>(predicate), keys);
    case PredicateKind::kRegex:
      return BoundsOfRegex(static_cast<const RegexPredicate&>(predicate).regex(), keys);
    case PredicateKind::kExists:
      return {.intervals = AllValues(), .needs_value = true};
    default:
      return Unknown();
  }
}

PathBounds BoundsOf(const MatchNode& root, std::string_view path, bool may_be_array,
                    const bson::StringComparator* keys) {
  switch (root.kind()) {
    case MatchKind::kPath: {
      const auto& leaf = static_cast<const PathNode&>(root);
      if (leaf.negated() || leaf.path().dotted() != path) return Unknown();
      PathBounds bounds = BoundsOfPredicate(leaf.predicate(), keys);
      if (!bounds.IsUnbounded() || bounds.needs_value) bounds.conjuncts = 1;
      return bounds;
    }
    case MatchKind::kAnd:
      return BoundsOfConjunction(static_cast<const LogicalNode&>(root), path, may_be_array, keys);
    case MatchKind::kOr:
      return BoundsOfDisjunction(static_cast<const LogicalNode&>(root), path, may_be_array, keys);
    default:
      return Unknown();
  }
}

size_t CountConjuncts(const MatchNode& root) {
  if (root.kind() != MatchKind::kAnd) return 1;
  size_t count = 0;
  for (const MatchNodePtr& child : static_cast<const LogicalNode&>(root).children()) {
    count += CountConjuncts(*child);
  }
  return count;
}

bool IsNeverTrue(const MatchNode& root) {
  switch (root.kind()) {
    case MatchKind::kConstant:
      return !static_cast<const ConstantNode&>(root).result();
    case MatchKind::kPath: {
      const auto& leaf = static_cast<const PathNode&>(root);
      if (leaf.negated() || leaf.predicate().kind() != PredicateKind::kIn) return false;
      const auto& in = static_cast<const InPredicate&>(leaf.predicate());
      return in.values().empty() && !in.has_patterns();
    }
    case MatchKind::kAnd:
    case MatchKind::kOr: {
      const auto& children = static_cast<const LogicalNode&>(root).children();
      const auto never = [](const MatchNodePtr& child) { return IsNeverTrue(*child); };
      return root.kind() == MatchKind::kAnd ? std::any_of(children.begin(), children.end(), never)
                                            : std::all_of(children.begin(), children.end(), never);
    }
    default:
      return false;
  }
}

}  // namespace evenkeel::query
