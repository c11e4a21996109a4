// Update operators on fields: $currentDate $inc $max $min $mul $rename $set $setOnInsert $unset.
#include <cmath>
#include <memory>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/match/type_names.h"
#include "query/update/table.h"

namespace evenkeel::query::update {
namespace {

using bson::Element;
using bson::Number;
using bson::Type;
using bson::Value;

// $set, and $setOnInsert with its condition.
class SetModifier final : public Modifier {
 public:
  SetModifier(std::string path, Value value, bool only_on_insert)
      : Modifier(std::move(path)), value_(value), only_on_insert_(only_on_insert) {}
  absl::StatusOr<Value> Apply(Value, ApplyContext&) const override { return value_; }
  bool IsActive(const ApplyContext& context) const override {
    return context.inserting || !only_on_insert_;
  }
  bool Creates() const override { return true; }

 private:
  Value value_;
  bool only_on_insert_;
};

class UnsetModifier final : public Modifier {
 public:
  using Modifier::Modifier;
  absl::StatusOr<Value> Apply(Value, ApplyContext&) const override { return Value(); }
  bool Creates() const override { return false; }
  bool AllowsBlockedPath() const override { return true; }
};

// $inc and $mul.
class ArithmeticModifier final : public Modifier {
 public:
  enum class Kind : uint8_t { kIncrement, kMultiply };
  ArithmeticModifier(std::string path, Kind kind, Value operand)
      : Modifier(std::move(path)), kind_(kind), operand_(Number::From(operand)) {}

  absl::StatusOr<Value> Apply(Value old, ApplyContext& context) const override {
    if (!old.missing() && !old.IsNumber()) {
      return Error(
          ErrorCode::kTypeMismatch,
          "Cannot apply {} to a value of non-numeric type. {{_id: {}}} has the field '{}' of "
          "non-numeric type {}",
          name(), bson::ToDisplay(context.document["_id"]), path(), TypeAlias(old.type()));
    }
    const Number before = old.missing() ? Number::Int32(0) : Number::From(old);
    const bool increment = kind_ == Kind::kIncrement;
    if (increment && old.missing()) return context.arena.Number(operand_);
    const Number after = increment ? bson::Add(before, operand_) : bson::Multiply(before, operand_);
    if (after.type == Type::kDouble && before.type != Type::kDouble &&
        operand_.type != Type::kDouble) {
      return Bad(
          "Failed to apply {} operations to current value ({}) of the field '{}': the result "
          "does not fit into 64 bits",
          name(), bson::ToDisplay(old), path());
    }
    return context.arena.Number(after);
  }
  bool Creates() const override { return true; }

 private:
  std::string_view name() const { return kind_ == Kind::kIncrement ? "$inc" : "$mul"; }
  Kind kind_;
  Number operand_;
};

// $min and $max.
class CompareModifier final : public Modifier {
 public:
  CompareModifier(std::string path, bool keep_lower, Value operand)
      : Modifier(std::move(path)), keep_lower_(keep_lower), operand_(operand) {}
  absl::StatusOr<Value> Apply(Value old, ApplyContext& context) const override {
    if (old.missing()) return operand_;
    const int order = bson::Compare(operand_, old, context.query.collation);
    return (keep_lower_ ? order < 0 : order > 0) ? operand_ : old;
  }
  bool Creates() const override { return true; }

 private:
  bool keep_lower_;
  Value operand_;
};

class CurrentDateModifier final : public Modifier {
 public:
  CurrentDateModifier(std::string path, bool timestamp)
      : Modifier(std::move(path)), timestamp_(timestamp) {}
  absl::StatusOr<Value> Apply(Value, ApplyContext& context) const override {
    if (timestamp_) return context.arena.TimestampValue(context.query.cluster_time);
    return context.arena.Date(context.query.now_ms);
  }
  bool Creates() const override { return true; }

 private:
  bool timestamp_;
};

// The two ends of a $rename: the source loses its value, the destination gets it.
class RenameModifier final : public Modifier {
 public:
  RenameModifier(std::string path, size_t index, bool is_source)
      : Modifier(std::move(path)), index_(index), is_source_(is_source) {}
  absl::StatusOr<Value> Apply(Value, ApplyContext& context) const override {
    if (!context.inserting && (path() == "_id" || path().starts_with("_id."))) {
      return Error(ErrorCode::kImmutableField,
                   "Performing a $rename on the path '{}' would modify the immutable field '_id'",
                   path());
    }
    return is_source_ ? Value() : context.moved[index_];
  }
  bool IsActive(const ApplyContext& context) const override {
    return index_ < context.moved.size() && !context.moved[index_].missing();
  }
  bool Creates() const override { return !is_source_; }
  bool AllowsBlockedPath() const override { return is_source_; }

 private:
  size_t index_;
  bool is_source_;
};

absl::Status ParseSet(Parse& parse, const Element& field) {
  return AddModifier<SetModifier>(parse, field.key, field.value, false);
}

absl::Status ParseSetOnInsert(Parse& parse, const Element& field) {
  return AddModifier<SetModifier>(parse, field.key, field.value, true);
}

absl::Status ParseUnset(Parse& parse, const Element& field) {
  return AddModifier<UnsetModifier>(parse, field.key);
}

absl::Status ParseInc(Parse& parse, const Element& field) {
  if (!field.value.IsNumber()) {
    return Error(ErrorCode::kTypeMismatch, "Cannot increment with non-numeric argument: {{{}: {}}}",
                 field.key, bson::ToDisplay(field.value));
  }
  return AddModifier<ArithmeticModifier>(parse, field.key, ArithmeticModifier::Kind::kIncrement,
                                         field.value);
}

absl::Status ParseMul(Parse& parse, const Element& field) {
  if (!field.value.IsNumber()) {
    return Error(ErrorCode::kTypeMismatch, "Cannot multiply with non-numeric argument: {{{}: {}}}",
                 field.key, bson::ToDisplay(field.value));
  }
  return AddModifier<ArithmeticModifier>(parse, field.key, ArithmeticModifier::Kind::kMultiply,
                                         field.value);
}

absl::Status ParseMin(Parse& parse, const Element& field) {
  return AddModifier<CompareModifier>(parse, field.key, true, field.value);
}

absl::Status ParseMax(Parse& parse, const Element& field) {
  return AddModifier<CompareModifier>(parse, field.key, false, field.value);
}

absl::Status ParseCurrentDate(Parse& parse, const Element& field) {
  bool timestamp = false;
  if (field.value.Is(Type::kObject)) {
    for (const Element& option : field.value.AsDocument()) {
      if (option.key != "$type") return Bad("Unrecognized $currentDate option: {}", option.key);
    }
    const Value type = field.value.AsDocument()["$type"];
    const std::string_view text = type.Is(Type::kString) ? type.AsString() : "";
    if (text != "date" && text != "timestamp") {
      return Bad(
          "The '$type' string field is required to be 'date' or 'timestamp': "
          "{{$currentDate: {{field : {{$type: 'date'}}}}}}");
    }
    timestamp = text == "timestamp";
  } else if (!field.value.Is(Type::kBool)) {
    return Bad(
        "{} is not valid type for $currentDate. Please use a boolean ('true') or a $type "
        "expression ({{$type: 'timestamp/date'}}).",
        TypeAlias(field.value.type()));
  }
  return AddModifier<CurrentDateModifier>(parse, field.key, timestamp);
}

bool IsPositional(std::string_view path) {
  return path.ends_with(".$") || path.find(".$.") != path.npos || path.find(".$[") != path.npos;
}

absl::Status ParseRename(Parse& parse, const Element& field) {
  if (!field.value.Is(Type::kString)) {
    return Bad("The 'to' field for $rename must be a string: {}: {}", field.key,
               bson::ToDisplay(field.value));
  }
  const std::string_view to = field.value.AsString();
  if (to.find('\0') != to.npos) {
    return Error(Location(9867600),
                 "The 'to' field for $rename cannot contain an embedded null byte");
  }
  if (field.key == to) {
    return Bad("The source and target field for $rename must differ: {}: \"{}\"", field.key, to);
  }
  if (IsPositional(field.key) || IsPositional(to)) {
    return Bad("The source and target field for $rename may not be dynamic: {}: \"{}\"", field.key,
               to);
  }
  const size_t index = parse.renames.size();
  parse.renames.push_back({bson::Path(field.key), bson::Path(to)});
  EVENKEEL_RETURN_IF_ERROR(AddModifier<RenameModifier>(parse, field.key, index, true));
  return AddModifier<RenameModifier>(parse, to, index, false);
}

constexpr UpdateOp kFieldOps[] = {
    {.name = "$currentDate",
     .parse = ParseCurrentDate,
     .spec = "operator/update/currentDate",
     .tests = "update/fields/currentDate"},
    {.name = "$inc",
     .parse = ParseInc,
     .spec = "operator/update/inc",
     .tests = "update/fields/inc"},
    {.name = "$max",
     .parse = ParseMax,
     .spec = "operator/update/max",
     .tests = "update/fields/max"},
    {.name = "$min",
     .parse = ParseMin,
     .spec = "operator/update/min",
     .tests = "update/fields/min"},
    {.name = "$mul",
     .parse = ParseMul,
     .spec = "operator/update/mul",
     .tests = "update/fields/mul"},
    {.name = "$rename",
     .parse = ParseRename,
     .spec = "operator/update/rename",
     .tests = "update/fields/rename"},
    {.name = "$set",
     .parse = ParseSet,
     .spec = "operator/update/set",
     .tests = "update/fields/set"},
    {.name = "$setOnInsert",
     .parse = ParseSetOnInsert,
     .spec = "operator/update/setOnInsert",
     .tests = "update/fields/setOnInsert"},
    {.name = "$unset",
     .parse = ParseUnset,
     .spec = "operator/update/unset",
     .tests = "update/fields/unset"},
};
static_assert(RowsAreInOrder(kFieldOps));

}  // namespace

std::span<const UpdateOp> FieldOps() { return kFieldOps; }

}  // namespace evenkeel::query::update
