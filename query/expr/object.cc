// $getField, $mergeObjects, $setField, $unsetField.
#include <algorithm>

#include "query/expr/groups.h"
#include "query/expr/nodes.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

absl::StatusOr<bson::Value> EvalMergeObjects(const Call& call) {
  std::vector<bson::Element> fields;  // a later field replaces an earlier one in its place
  for (const bson::Value& object : call.args) {
    if (object.IsNullish()) continue;
    if (!object.Is(Type::kObject)) {
      return WrongType(call, Location(40400), "requires object inputs", object);
    }
    for (const bson::Element& field : object.AsDocument()) {
      const auto same = std::find_if(fields.begin(), fields.end(),
                                     [&](const bson::Element& f) { return f.key == field.key; });
      if (same != fields.end()) {
        same->value = field.value;
      } else {
        fields.push_back(field);
      }
    }
  }
  ArenaBuilder merged(call.arena(), Type::kObject);
  for (const auto& [key, value] : fields) merged.Append(key, value);
  return merged.Finish();
}

// Children: input, value (for $setField).
class SetFieldNode final : public FormNode {
 public:
  SetFieldNode(std::vector<ExpressionPtr> children, std::string name, std::string_view op)
      : FormNode(std::move(children)), name_(std::move(name)), op_(op) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value input, EvaluateChild(0, evaluation));
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, EvaluateChild(1, evaluation));
    if (input.IsNullish()) return NullValue();
    if (!input.Is(Type::kObject)) {
      return Error(Location(4161105), "{} requires 'input' to evaluate to type Object, not {}", op_,
                   TypeName(input.type()));
    }
    ArenaBuilder result(evaluation.arena(), Type::kObject);
    bool placed = false;
    for (const auto& [key, old] : input.AsDocument()) {
      const bool here = key == name_;
      result.Append(key, here ? value : old);
      placed = placed || here;
    }
    if (!placed) result.Append(name_, value);
    return result.Finish();
  }

 private:
  std::string name_;
  std::string_view op_;
};

// The constant string that names a field. Errors: 4161106 not constant, 4161107 no string, 4161108
// a path.
absl::StatusOr<std::string> ConstantName(const ExprOp& op, bson::Value spec, ParseScope& scope) {
  if (spec.Is(Type::kString) && spec.AsString().starts_with('$')) {
    return Error(Location(4161108),
                 "A field path reference which is not allowed in this context. Did you mean "
                 "{{$literal: '{}'}}?",
                 spec.AsString());
  }
  EVENKEEL_ASSIGN_OR_RETURN(const ExpressionPtr parsed, Expression::Parse(spec, scope));
  const std::optional<bson::Value> name = parsed->Constant();
  const std::string_view first =
      spec.Is(Type::kObject) ? spec.AsDocument().Front().key : std::string_view();
  const bool computed =
      (!first.empty() && first != "$literal" && first != "$const") || spec.Is(Type::kArray);
  if (!name || computed) {
    return Error(Location(4161106), "{} requires 'field' to evaluate to a constant", op.name);
  }
  if (!name->Is(Type::kString)) {
    return Error(Location(4161107), "{} requires 'field' to evaluate to type String, not {}",
                 op.name, TypeName(name->type()));
  }
  if (name->AsString().find('\0') != std::string_view::npos) {
    return Error(Location(9534700), "{} requires 'field' to not contain an embedded null byte",
                 op.name);
  }
  return std::string(name->AsString());
}

absl::StatusOr<ExpressionPtr> ParseSetField(const ExprOp& op, bson::Value args, ParseScope& scope) {
  const bool sets = op.name == "$setField";
  if (!args.Is(Type::kObject)) {
    return Error(Location(4161100), "{} only supports an object as its argument", op.name);
  }
  bson::Value field, input, value;
  for (const auto& [key, given] : args.AsDocument()) {
    if (key == "field") {
      field = given;
    } else if (key == "input") {
      input = given;
    } else if (key == "value" && sets) {
      value = given;
    } else {
      return Error(Location(4161101), "{} found an unknown argument: {}", op.name, key);
    }
  }
  if (field.missing()) {
    return Error(Location(4161102), "{} requires 'field' to be specified", op.name);
  }
  if (sets && value.missing()) {
    return Error(Location(4161103), "{} requires 'value' to be specified", op.name);
  }
  if (input.missing()) {
    return Error(Location(4161109), "{} requires 'input' to be specified", op.name);
  }
  std::vector<ExpressionPtr> children(2);
  EVENKEEL_ASSIGN_OR_RETURN(children[0], Expression::Parse(input, scope));
  EVENKEEL_ASSIGN_OR_RETURN(std::string name, ConstantName(op, field, scope));
  if (sets) {
    EVENKEEL_ASSIGN_OR_RETURN(children[1], Expression::Parse(value, scope));
  }
  return MakeForm<SetFieldNode>(std::move(children), scope.context(), std::move(name), op.name);
}

absl::StatusOr<bson::Value> EvalGetField(const Call& call) {
  const bson::Value name = call.args[0];
  const bson::Value input = call.args[1];
  if (!name.Is(Type::kString)) {
    return WrongType(call, Location(3041704), "requires 'field' to evaluate to type String", name);
  }
  if (input.IsNullish()) return input.missing() ? bson::Value() : NullValue();
  if (!input.Is(Type::kObject)) return bson::Value();
  return input.AsDocument()[name.AsString()];
}

// {$getField: name} or {$getField: {field: name, input: object}}.
absl::StatusOr<ExpressionPtr> ParseGetField(const ExprOp& op, bson::Value args, ParseScope& scope) {
  bson::Value field = args, input;
  const bool named = args.Is(Type::kObject) && !args.AsDocument().Front().key.starts_with('$');
  if (named) {
    field = bson::Value();
    for (const auto& [key, given] : args.AsDocument()) {
      if (key == "field") {
        field = given;
      } else if (key == "input") {
        input = given;
      } else {
        return Error(Location(3041701), "$getField found an unknown argument: {}", key);
      }
    }
    if (field.missing()) {
      return Error(Location(3041702), "$getField requires 'field' to be specified");
    }
    if (input.missing()) {
      return Error(Location(3041703), "$getField requires 'input' to be specified");
    }
  }
  std::vector<ExpressionPtr> children(2);
  EVENKEEL_ASSIGN_OR_RETURN(children[0], Expression::Parse(field, scope));
  const std::optional<bson::Value> constant = children[0]->Constant();
  if (constant && !constant->Is(Type::kString)) {
    return Error(Location(5654602), "$getField requires 'field' to evaluate to type String, not {}",
                 TypeName(constant->type()));
  }
  if (named) {
    EVENKEEL_ASSIGN_OR_RETURN(children[1], Expression::Parse(input, scope));
  } else {
    const VariableSlot current = scope.Find("CURRENT").value_or(VariableSlot::kRoot);
    children[1] = std::make_unique<PathNode>(current, "");
  }
  return MakeOperator(op, std::move(children), scope.context());
}

constexpr ExprOp kRows[] = {
    {.name = "$getField",
     .parse = ParseGetField,
     .eval = EvalGetField,
     .spec = "operator/aggregation/getField",
     .tests = "expressions/misc/getField"},
    {.name = "$mergeObjects",
     .arity = Arity::AtLeast(0),
     .parse = ParseArguments,
     .eval = EvalMergeObjects,
     .spec = "operator/aggregation/mergeObjects",
     .tests = "expressions/object/mergeObjects"},
    {.name = "$setField",
     .parse = ParseSetField,
     .spec = "operator/aggregation/setField",
     .tests = "expressions/object/setField"},
    {.name = "$unsetField",
     .parse = ParseSetField,
     .spec = "operator/aggregation/unsetField",
     .tests = "expressions/object/unsetField"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ObjectOps() { return kRows; }

}  // namespace evenkeel::query::expr
