// Match operators on arrays: $all $elemMatch $size.
#include <memory>
#include <vector>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

class SizePredicate final : public Predicate {
 public:
  explicit SizePredicate(int64_t size)
      : Predicate(PredicateKind::kSize, LeafArrays::kWhole), size_(size) {}
  bool Matches(Value value, MatchDetails&) const override {
    return value.Is(Type::kArray) &&
           static_cast<int64_t>(value.AsDocument().CountFields()) == size_;
  }

 private:
  int64_t size_;
};

// An array with an element that is a document matching a filter.
class ElemMatchObjectPredicate final : public Predicate {
 public:
  explicit ElemMatchObjectPredicate(MatchNodePtr filter)
      : Predicate(PredicateKind::kElemMatchObject, LeafArrays::kWhole),
        filter_(std::move(filter)) {}
  bool Matches(Value value, MatchDetails& details) const override {
    if (!value.Is(Type::kArray)) return false;
    int64_t index = 0;
    for (const Element& element : value.AsDocument()) {
      const bool nested = element.value.Is(Type::kObject) || element.value.Is(Type::kArray);
      if (nested && filter_->Matches(element.value.AsDocument(), details)) {
        details.position = index;
        return true;
      }
      ++index;
    }
    return false;
  }

 private:
  MatchNodePtr filter_;
};

// An array with an element that satisfies all operators.
class ElemMatchValuePredicate final : public Predicate {
 public:
  explicit ElemMatchValuePredicate(PredicatePtr condition)
      : Predicate(PredicateKind::kElemMatchValue, LeafArrays::kWhole),
        condition_(std::move(condition)) {}
  bool Matches(Value value, MatchDetails& details) const override {
    if (!value.Is(Type::kArray)) return false;
    int64_t index = 0;
    for (const Element& element : value.AsDocument()) {
      if (condition_->Matches(element.value, details)) {
        details.position = index;
        return true;
      }
      ++index;
    }
    return false;
  }

 private:
  PredicatePtr condition_;
};

absl::StatusOr<Condition> ParseSize(Parser&, const FieldUse& use) {
  if (!use.operand.IsNumber()) {
    return Bad("Failed to parse $size. Expected a number in: {}", bson::ToDisplay(use.operand));
  }
  const std::optional<int64_t> size = bson::ToInt64Exact(use.operand);
  if (!size || *size > INT32_MAX) {
    return Bad("Failed to parse $size. Expected a 32-bit integer: {}",
               bson::ToDisplay(use.operand));
  }
  if (*size < 0) {
    return Bad("Failed to parse $size. Expected a non-negative number in: {}", *size);
  }
  return Condition::Of(std::make_unique<SizePredicate>(*size));
}

// $elemMatch holds operators for the elements themselves when its first field is one that stands
// behind a field.
bool HoldsOperators(View operand) {
  const std::string_view first = operand.Front().key;
  if (!first.starts_with('$') || first == "$ref" || first == "$id" || first == "$db") return false;
  const MatchOp* op = FindOperator(first);
  return !op || op->place == Place::kField;
}

absl::StatusOr<Condition> ParseElemMatch(Parser& parser, const FieldUse& use) {
  if (!use.operand.Is(Type::kObject)) return Bad("$elemMatch needs an Object");
  const View operand = use.operand.AsDocument();
  if (HoldsOperators(operand)) {
    EVENKEEL_ASSIGN_OR_RETURN(Condition condition, parser.ParseOperators(operand));
    return Condition::Of(
        std::make_unique<ElemMatchValuePredicate>(MakePredicate(std::move(condition))));
  }
  EVENKEEL_ASSIGN_OR_RETURN(MatchNodePtr filter, parser.ParseNestedFilter(operand));
  return Condition::Of(std::make_unique<ElemMatchObjectPredicate>(std::move(filter)));
}

bool IsElemMatch(Value value) {
  return value.Is(Type::kObject) && value.AsDocument().Front().key == "$elemMatch";
}

absl::StatusOr<Condition> ParseAll(Parser& parser, const FieldUse& use) {
  if (!use.operand.Is(Type::kArray)) return Bad("$all needs an array");
  const View operand = use.operand.AsDocument();
  if (operand.empty()) return Condition::Always(false);
  const bool elem_match = IsElemMatch(operand.Front().value);
  Condition all;
  for (const Element& element : operand) {
    if (elem_match) {
      if (!IsElemMatch(element.value)) return Bad("$all/$elemMatch has to be consistent");
      EVENKEEL_ASSIGN_OR_RETURN(Condition condition,
                                parser.ParseOperators(element.value.AsDocument()));
      all.children.push_back(std::move(condition));
      continue;
    }
    if (IsOperatorObject(element.value)) return Bad("no $ expressions in $all");
    EVENKEEL_ASSIGN_OR_RETURN(Condition condition, parser.ParseImplicit(element.value));
    all.children.push_back(std::move(condition));
  }
  return all;
}

constexpr MatchOp kArrayOps[] = {
    {.name = "$all",
     .place = Place::kField,
     .parse_field = ParseAll,
     .spec = "operator/query/all",
     .tests = "query/arrays/all"},
    {.name = "$elemMatch",
     .place = Place::kField,
     .parse_field = ParseElemMatch,
     .spec = "operator/query/elemMatch",
     .tests = "query/arrays/elemMatch"},
    {.name = "$size",
     .place = Place::kField,
     .parse_field = ParseSize,
     .spec = "operator/query/size",
     .tests = "query/arrays/size"},
};
static_assert(RowsAreInOrder(kArrayOps));

}  // namespace

std::span<const MatchOp> ArrayOps() { return kArrayOps; }

}  // namespace evenkeel::query::match
