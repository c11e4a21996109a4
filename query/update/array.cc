// Update operators that take elements out of arrays or add them as to a set: $addToSet $pop $pull
// $pullAll.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/match/filter.h"
#include "query/match/table.h"
#include "query/match/type_names.h"
#include "query/update/table.h"

namespace evenkeel::query::update {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

// Removes the elements that `Removes` names; what $pull and $pullAll share.
class CullModifier : public Modifier {
 public:
  using Modifier::Modifier;
  absl::StatusOr<Value> Apply(Value old, ApplyContext& context) const final {
    if (old.missing()) return old;
    if (!old.Is(Type::kArray)) return Bad("Cannot apply $pull to a non-array value: {}", path());
    const View array = old.AsDocument();
    const bool any = std::any_of(array.begin(), array.end(), [&](const Element& element) {
      return Removes(element.value, context.query);
    });
    if (!any) return old;
    ArenaBuilder builder(context.arena, Type::kArray);
    for (const Element& element : array) {
      if (!Removes(element.value, context.query)) builder.Add(element.value);
    }
    return builder.Finish();
  }
  bool Creates() const final { return false; }
  bool AllowsBlockedPath() const final { return true; }

 private:
  virtual bool Removes(Value element, const QueryContext& query) const = 0;
};

class PullAllModifier final : public CullModifier {
 public:
  PullAllModifier(std::string path, View values) : CullModifier(std::move(path)), values_(values) {}

 private:
  bool Removes(Value element, const QueryContext& query) const override {
    for (const Element& value : values_) {
      if (bson::Compare(element, value.value, query.collation) == 0) return true;
    }
    return false;
  }
  View values_;
};

// $pull with a value: elements equal to it.
class PullValueModifier final : public CullModifier {
 public:
  PullValueModifier(std::string path, Value value) : CullModifier(std::move(path)), value_(value) {}

 private:
  bool Removes(Value element, const QueryContext& query) const override {
    return bson::Compare(element, value_, query.collation) == 0;
  }
  Value value_;
};

// $pull with conditions on the elements themselves.
class PullConditionModifier final : public CullModifier {
 public:
  PullConditionModifier(std::string path, Filter condition)
      : CullModifier(std::move(path)), condition_(std::move(condition)) {}

 private:
  bool Removes(Value element, const QueryContext&) const override {
    return condition_.MatchesValue(element);
  }
  Filter condition_;
};

// $pull with a filter for elements that are documents.
class PullFilterModifier final : public CullModifier {
 public:
  PullFilterModifier(std::string path, Filter filter)
      : CullModifier(std::move(path)), filter_(std::move(filter)) {}

 private:
  bool Removes(Value element, const QueryContext&) const override {
    return element.Is(Type::kObject) && filter_.Matches(element.AsDocument());
  }
  Filter filter_;
};

class PopModifier final : public Modifier {
 public:
  PopModifier(std::string path, bool first) : Modifier(std::move(path)), first_(first) {}
  absl::StatusOr<Value> Apply(Value old, ApplyContext& context) const override {
    if (old.missing()) return old;
    if (!old.Is(Type::kArray)) {
      return Error(ErrorCode::kTypeMismatch, "Path '{}' contains an element of non-array type '{}'",
                   path(), TypeAlias(old.type()));
    }
    const View array = old.AsDocument();
    if (array.empty()) return old;
    const size_t removed = first_ ? 0 : array.CountFields() - 1;
    ArenaBuilder builder(context.arena, Type::kArray);
    size_t index = 0;
    for (const Element& element : array) {
      if (index++ != removed) builder.Add(element.value);
    }
    return builder.Finish();
  }
  bool Creates() const override { return false; }

 private:
  bool first_;
};

class AddToSetModifier final : public Modifier {
 public:
  AddToSetModifier(std::string path, std::vector<Value> values)
      : Modifier(std::move(path)), values_(std::move(values)) {}
  absl::StatusOr<Value> Apply(Value old, ApplyContext& context) const override {
    if (!old.missing() && !old.Is(Type::kArray)) {
      return Bad(
          "Cannot apply $addToSet to non-array field. Field named '{}' has non-array type {}",
          path(), TypeAlias(old.type()));
    }
    std::vector<Value> elements;
    if (!old.missing()) {
      for (const Element& element : old.AsDocument()) elements.push_back(element.value);
    }
    const size_t size = elements.size();
    for (const Value value : values_) {
      const bool known = std::any_of(elements.begin(), elements.end(), [&](Value element) {
        return bson::Compare(element, value, context.query.collation) == 0;
      });
      if (!known) elements.push_back(value);
    }
    if (!old.missing() && elements.size() == size) return old;
    ArenaBuilder builder(context.arena, Type::kArray);
    for (const Value element : elements) builder.Add(element);
    return builder.Finish();
  }
  bool Creates() const override { return true; }

 private:
  std::vector<Value> values_;
};

absl::Status ParsePull(Parse& parse, const Element& field) {
  if (field.value.Is(Type::kRegex)) {
    const bson::RegexView regex = field.value.AsRegex();
    bson::Builder builder;
    builder.AppendRegex("$regex", regex.pattern, regex.options);
    EVENKEEL_ASSIGN_OR_RETURN(Filter condition, Filter::ParseValue(builder.Finish(), parse.query));
    return AddModifier<PullConditionModifier>(parse, field.key, std::move(condition));
  }
  if (!field.value.Is(Type::kObject)) {
    return AddModifier<PullValueModifier>(parse, field.key, field.value);
  }
  const View operand = field.value.AsDocument();
  if (match::IsOperatorObject(field.value)) {
    const match::MatchOp* op = match::FindOperator(operand.Front().key);
    if (!op || op->place == match::Place::kField) {
      EVENKEEL_ASSIGN_OR_RETURN(Filter condition, Filter::ParseValue(operand, parse.query));
      return AddModifier<PullConditionModifier>(parse, field.key, std::move(condition));
    }
  }
  EVENKEEL_ASSIGN_OR_RETURN(Filter filter, Filter::Parse(operand, parse.query));
  return AddModifier<PullFilterModifier>(parse, field.key, std::move(filter));
}

absl::Status ParsePullAll(Parse& parse, const Element& field) {
  if (!field.value.Is(Type::kArray)) {
    return Bad("$pullAll requires an array argument but was given a {}",
               TypeAlias(field.value.type()));
  }
  return AddModifier<PullAllModifier>(parse, field.key, field.value.AsDocument());
}

absl::Status ParsePop(Parse& parse, const Element& field) {
  const std::optional<int64_t> end =
      field.value.IsNumber() ? bson::ToInt64Exact(field.value) : std::nullopt;
  if (end != 1 && end != -1) {
    return Error(ErrorCode::kFailedToParse, "$pop expects 1 or -1, found: {}: {}", field.key,
                 bson::ToDisplay(field.value));
  }
  return AddModifier<PopModifier>(parse, field.key, *end == -1);
}

absl::Status ParseAddToSet(Parse& parse, const Element& field) {
  std::vector<Value> values;
  const bool each =
      field.value.Is(Type::kObject) && field.value.AsDocument().Front().key == "$each";
  if (each) {
    const Value list = field.value.AsDocument()["$each"];
    if (!list.Is(Type::kArray)) {
      return Error(ErrorCode::kTypeMismatch,
                   "The argument to $each in $addToSet must be an array but it was of type {}",
                   TypeAlias(list.type()));
    }
    if (field.value.AsDocument().CountFields() > 1) {
      return Bad("Found unexpected fields after $each in $addToSet: {}",
                 bson::ToDisplay(field.value));
    }
    for (const Element& element : list.AsDocument()) values.push_back(element.value);
  } else {
    values.push_back(field.value);
  }
  return AddModifier<AddToSetModifier>(parse, field.key, std::move(values));
}

constexpr UpdateOp kArrayOps[] = {
    {.name = "$addToSet",
     .parse = ParseAddToSet,
     .spec = "operator/update/addToSet",
     .tests = "update/array/addToSet"},
    {.name = "$pop", .parse = ParsePop, .spec = "operator/update/pop", .tests = "update/array/pop"},
    {.name = "$pull",
     .parse = ParsePull,
     .spec = "operator/update/pull",
     .tests = "update/array/pull"},
    {.name = "$pullAll",
     .parse = ParsePullAll,
     .spec = "operator/update/pullAll",
     .tests = "update/array/pullAll"},
};
static_assert(RowsAreInOrder(kArrayOps));

}  // namespace

std::span<const UpdateOp> ArrayOps() { return kArrayOps; }

}  // namespace evenkeel::query::update
