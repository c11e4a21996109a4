// Implements the predicates that several groups share.
#include "query/match/predicate.h"

#include <algorithm>
#include <cmath>

#include "base/bson/number.h"
#include "query/match/node.h"

namespace evenkeel::query {
namespace {

using bson::Type;
using bson::Value;

bool IsNaN(Value value) {
  if (value.Is(Type::kDouble)) return std::isnan(value.AsDouble());
  return value.Is(Type::kDecimal128) && bson::DecimalIsNaN(value.AsDecimal128());
}

}  // namespace

ComparisonPredicate::ComparisonPredicate(PredicateKind kind, Value operand,
                                         const bson::StringComparator* collation)
    : Predicate(kind),
      operand_(operand),
      collation_(collation),
      rank_(bson::CanonicalRank(operand.type())),
      is_nan_(IsNaN(operand)) {}

// Values outside the operand's bracket: a missing field is like null, and everything lies between
// the key types.
bool ComparisonPredicate::MatchesOtherRank(Value value) const {
  switch (operand_.type()) {
    case Type::kNull:
      return value.missing() && kind() != PredicateKind::kLess && kind() != PredicateKind::kGreater;
    case Type::kMaxKey:
      return kind() == PredicateKind::kLess || kind() == PredicateKind::kLessOrEqual;
    case Type::kMinKey:
      return kind() == PredicateKind::kGreater || kind() == PredicateKind::kGreaterOrEqual;
    default:
      return false;
  }
}

bool ComparisonPredicate::Matches(Value value, MatchDetails&) const {
  if (bson::CanonicalRank(value.type()) != rank_) return MatchesOtherRank(value);
  const int order = bson::Compare(value, operand_, collation_);
  switch (kind()) {
    case PredicateKind::kEqual:
      return order == 0;
    // NaN equals itself and is neither below nor above other numbers.
    case PredicateKind::kLess:
      return order < 0 && !is_nan_ && !IsNaN(value);
    case PredicateKind::kLessOrEqual:
      return order == 0 || (order < 0 && !is_nan_ && !IsNaN(value));
    case PredicateKind::kGreater:
      return order > 0 && !is_nan_ && !IsNaN(value);
    case PredicateKind::kGreaterOrEqual:
      return order == 0 || (order > 0 && !is_nan_ && !IsNaN(value));
    default:
      return false;
  }
}

InPredicate::InPredicate(std::vector<Value> values, std::vector<match::Regex> patterns,
                         const bson::StringComparator* collation)
    : Predicate(PredicateKind::kIn),
      values_(std::move(values)),
      patterns_(std::move(patterns)),
      collation_(collation) {
  std::sort(values_.begin(), values_.end(),
            [&](Value a, Value b) { return bson::Compare(a, b, collation_) < 0; });
  values_.erase(std::unique(values_.begin(), values_.end(),
                            [&](Value a, Value b) { return bson::Compare(a, b, collation_) == 0; }),
                values_.end());
  has_null_ =
      std::any_of(values_.begin(), values_.end(), [](Value v) { return v.Is(Type::kNull); });
}

bool InPredicate::Matches(Value value, MatchDetails&) const {
  if (value.missing()) return has_null_;
  const auto at = std::lower_bound(values_.begin(), values_.end(), value, [&](Value a, Value b) {
    return bson::Compare(a, b, collation_) < 0;
  });
  if (at != values_.end() && bson::Compare(*at, value, collation_) == 0) return true;
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const match::Regex& regex) { return regex.MatchesValue(value); });
}

bool RegexPredicate::Matches(Value value, MatchDetails&) const {
  return regex_.MatchesValue(value);
}

bool CompoundPredicate::Matches(Value value, MatchDetails& details) const {
  const auto matches = [&](const PredicatePtr& part) { return part->Matches(value, details); };
  switch (kind()) {
    case PredicateKind::kAllOf:
      return std::all_of(parts_.begin(), parts_.end(), matches);
    case PredicateKind::kAnyOf:
      return std::any_of(parts_.begin(), parts_.end(), matches);
    default:
      return !matches(parts_.front());
  }
}

}  // namespace evenkeel::query
