// A compiled condition on one value: what stands behind a path in a filter.
//
// Predicates are immutable and see single values; going through arrays is the path's work
// (path_walk.h). Operands are views into the filter's source, which outlives them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bson/compare.h"
#include "base/bson/view.h"
#include "query/match/path_walk.h"
#include "query/match/regex.h"
#include "query/match/type_names.h"

namespace evenkeel::query {

struct MatchDetails;  // query/match/node.h

enum class PredicateKind : uint8_t {
  kEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kRegex,
  kExists,
  kType,
  kSize,
  kElemMatchObject,
  kElemMatchValue,
  kMod,
  kBits,
  kGeo,
  kAllOf,
  kAnyOf,
  kNot,
  kConstant,
};

class Predicate {
 public:
  explicit Predicate(PredicateKind kind, match::LeafArrays leaf = match::LeafArrays::kEachAndWhole)
      : kind_(kind), leaf_(leaf) {}
  virtual ~Predicate() = default;

  // `value` may be missing.
  virtual bool Matches(bson::Value value, MatchDetails& details) const = 0;
  PredicateKind kind() const { return kind_; }
  // Whether an array at the end of the path gives its elements too.
  match::LeafArrays leaf() const { return leaf_; }

 private:
  PredicateKind kind_;
  match::LeafArrays leaf_;
};

using PredicatePtr = std::unique_ptr<Predicate>;

// $eq, $lt, $lte, $gt, $gte: only values of the operand's type bracket match, with MongoDB's rules
// for null, NaN and the key types.
class ComparisonPredicate final : public Predicate {
 public:
  ComparisonPredicate(PredicateKind kind, bson::Value operand,
                      const bson::StringComparator* collation);
  bool Matches(bson::Value value, MatchDetails& details) const override;
  bson::Value operand() const { return operand_; }
  const bson::StringComparator* collation() const { return collation_; }

 private:
  bool MatchesOtherRank(bson::Value value) const;

  bson::Value operand_;
  const bson::StringComparator* collation_;
  int rank_;
  bool is_nan_;
};

// $in: equality with one of the values, or a match of one of the patterns.
class InPredicate final : public Predicate {
 public:
  // `values` in any order. Regular expressions among them match as patterns and equal themselves.
  InPredicate(std::vector<bson::Value> values, std::vector<match::Regex> patterns,
              const bson::StringComparator* collation);
  bool Matches(bson::Value value, MatchDetails& details) const override;
  // Sorted, each once; regular expressions are not among them.
  const std::vector<bson::Value>& values() const { return values_; }
  bool has_patterns() const { return !patterns_.empty(); }
  bool has_null() const { return has_null_; }
  const bson::StringComparator* collation() const { return collation_; }

 private:
  std::vector<bson::Value> values_;
  std::vector<match::Regex> patterns_;
  const bson::StringComparator* collation_;
  bool has_null_ = false;
};

// A pattern: matches strings and symbols by searching them, and the same regular expression as a
// value.
class RegexPredicate final : public Predicate {
 public:
  explicit RegexPredicate(match::Regex regex)
      : Predicate(PredicateKind::kRegex), regex_(std::move(regex)) {}
  bool Matches(bson::Value value, MatchDetails& details) const override;
  const match::Regex& regex() const { return regex_; }

 private:
  match::Regex regex_;
};

// $exists: true; false is the negation.
class ExistsPredicate final : public Predicate {
 public:
  ExistsPredicate() : Predicate(PredicateKind::kExists, match::LeafArrays::kWhole) {}
  bool Matches(bson::Value value, MatchDetails&) const override { return !value.missing(); }
};

// $type.
class TypePredicate final : public Predicate {
 public:
  explicit TypePredicate(TypeSet types) : Predicate(PredicateKind::kType), types_(types) {}
  bool Matches(bson::Value value, MatchDetails&) const override {
    return !value.missing() && types_.Contains(value.type());
  }

 private:
  TypeSet types_;
};

// Conditions on one value together: what $elemMatch holds when it holds operators, and $not.
class CompoundPredicate final : public Predicate {
 public:
  // `kind` is kAllOf, kAnyOf or kNot (which has one part).
  CompoundPredicate(PredicateKind kind, std::vector<PredicatePtr> parts)
      : Predicate(kind), parts_(std::move(parts)) {}
  bool Matches(bson::Value value, MatchDetails& details) const override;

 private:
  std::vector<PredicatePtr> parts_;
};

// The same answer for every value.
class ConstantPredicate final : public Predicate {
 public:
  explicit ConstantPredicate(bool result) : Predicate(PredicateKind::kConstant), result_(result) {}
  bool Matches(bson::Value, MatchDetails&) const override { return result_; }

 private:
  bool result_;
};

}  // namespace evenkeel::query
