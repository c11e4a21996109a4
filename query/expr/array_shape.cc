// $arrayToObject, $objectToArray, $zip.
#include <algorithm>

#include "query/expr/groups.h"
#include "query/expr/nodes.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

absl::StatusOr<bson::Value> EvalObjectToArray(const Call& call) {
  const bson::Value object = call.args[0];
  if (!object.Is(Type::kObject)) {
    return WrongType(call, Location(40390), "requires a document input", object);
  }
  ArenaBuilder pairs(call.arena(), Type::kArray);
  for (const auto& [key, value] : object.AsDocument()) {
    ArenaBuilder pair(call.arena(), Type::kObject);
    pair.Append("k", call.arena().String(key));
    pair.Append("v", value);
    pairs.Add(pair.Finish());
  }
  return pairs.Finish();
}

// One element of $arrayToObject as key and value: [k, v] or {k: …, v: …}.
absl::StatusOr<bson::Element> PairOf(bson::Value pair) {
  bson::Value key, value;
  if (pair.Is(Type::kArray)) {
    if (pair.AsDocument().CountFields() != 2) {
      return Error(Location(40397), "$arrayToObject requires an array of size 2 arrays");
    }
    auto at = pair.AsDocument().begin();
    key = at->value;
    value = (++at)->value;
    if (!key.Is(Type::kString)) {
      return Error(Location(40395),
                   "$arrayToObject requires an array of key-value pairs, where the key must be of "
                   "type string. Found key type: {}",
                   TypeName(key.type()));
    }
  } else if (pair.Is(Type::kObject)) {
    if (pair.AsDocument().CountFields() != 2) {
      return Error(Location(40392), "$arrayToObject requires an object keys of 'k' and 'v'");
    }
    key = pair.AsDocument()["k"];
    value = pair.AsDocument()["v"];
    if (key.missing() || value.missing()) {
      return Error(Location(40393), "$arrayToObject requires an object with keys 'k' and 'v'");
    }
    if (!key.Is(Type::kString)) {
      return Error(Location(40394),
                   "$arrayToObject requires an object with keys 'k' and 'v', where the value of "
                   "'k' must be of type string. Found type: {}",
                   TypeName(key.type()));
    }
  } else {
    return Error(Location(40398), "Unrecognised input type format for $arrayToObject: {}",
                 TypeName(pair.type()));
  }
  if (key.AsString().find('\0') != std::string_view::npos) {
    return Error(Location(4940401), "Key field cannot contain an embedded null byte");
  }
  return bson::Element{key.AsString(), value};
}

absl::StatusOr<bson::Value> EvalArrayToObject(const Call& call) {
  const bson::Value array = call.args[0];
  if (!array.Is(Type::kArray)) {
    return WrongType(call, Location(40386), "requires an array input", array);
  }
  std::vector<bson::Element> fields;  // a later pair replaces an earlier one in its place
  Type first = Type::kEod;
  for (const bson::Element& element : array.AsDocument()) {
    if (first == Type::kEod) first = element.value.type();
    if (element.value.type() != first && (first == Type::kArray || first == Type::kObject)) {
      const int code = first == Type::kArray ? 40396 : 40391;
      return Error(Location(code), "$arrayToObject requires a consistent input format");
    }
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Element pair, PairOf(element.value));
    const auto same = std::find_if(fields.begin(), fields.end(),
                                   [&](const bson::Element& f) { return f.key == pair.key; });
    if (same != fields.end()) {
      same->value = pair.value;
    } else {
      fields.push_back(pair);
    }
  }
  ArenaBuilder object(call.arena(), Type::kObject);
  for (const auto& [key, value] : fields) object.Append(key, value);
  return object.Finish();
}

// Children: the inputs, then the defaults (none: null).
class ZipNode final : public FormNode {
 public:
  ZipNode(std::vector<ExpressionPtr> children, size_t inputs, bool longest)
      : FormNode(std::move(children)), inputs_(inputs), longest_(longest) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    std::vector<std::vector<bson::Value>> columns(inputs_);
    size_t shortest = SIZE_MAX, longest = 0;
    bool null = false;
    for (size_t i = 0; i < inputs_; ++i) {
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value input, EvaluateChild(i, evaluation));
      if (input.IsNullish()) {
        null = true;
        continue;
      }
      if (!input.Is(Type::kArray)) {
        return Error(Location(34468), "$zip found a non-array expression in input: {}",
                     TypeName(input.type()));
      }
      for (const bson::Element& element : input.AsDocument()) columns[i].push_back(element.value);
      shortest = std::min(shortest, columns[i].size());
      longest = std::max(longest, columns[i].size());
    }
    if (null) return NullValue();
    std::vector<bson::Value> defaults;
    for (size_t i = inputs_; i < children_.size(); ++i) {
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, EvaluateChild(i, evaluation));
      defaults.push_back(value);
    }
    defaults.resize(inputs_, NullValue());
    ArenaBuilder rows(evaluation.arena(), Type::kArray);
    for (size_t at = 0; at < (longest_ ? longest : shortest); ++at) {
      ArenaBuilder row(evaluation.arena(), Type::kArray);
      for (size_t i = 0; i < inputs_; ++i) {
        row.Add(at < columns[i].size() ? columns[i][at] : defaults[i]);
      }
      rows.Add(row.Finish());
    }
    return rows.Finish();
  }

 private:
  size_t inputs_;
  bool longest_;
};

// The parts of $zip's argument.
struct ZipFields {
  bson::Value inputs, defaults;
  bool longest = false;
};

absl::Status ReadZipField(const bson::Element& field, ZipFields* fields) {
  const auto& [key, value] = field;
  const std::string_view type = TypeName(value.type());
  if (key == "inputs") {
    if (!value.Is(Type::kArray)) {
      return Error(Location(34461), "inputs must be an array of expressions, found {}", type);
    }
    fields->inputs = value;
  } else if (key == "defaults") {
    if (!value.Is(Type::kArray)) {
      return Error(Location(34462), "defaults must be an array of expressions, found {}", type);
    }
    fields->defaults = value;
  } else if (key == "useLongestLength") {
    if (!value.Is(Type::kBool)) {
      return Error(Location(34463), "useLongestLength must be a bool, found {}", type);
    }
    fields->longest = value.AsBool();
  } else {
    return Error(Location(34464), "$zip found an unknown argument: {}", key);
  }
  return absl::OkStatus();
}

absl::Status ParseElements(bson::Value array, ParseScope& scope,
                           std::vector<ExpressionPtr>* children) {
  for (const bson::Element& element : array.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr child, Expression::Parse(element.value, scope));
    children->push_back(std::move(child));
  }
  return absl::OkStatus();
}

absl::StatusOr<ExpressionPtr> ParseZip(const ExprOp&, bson::Value args, ParseScope& scope) {
  if (!args.Is(Type::kObject)) {
    return Error(Location(34460), "$zip only supports an object as an argument, found {}",
                 TypeName(args.type()));
  }
  ZipFields fields;
  for (const bson::Element& field : args.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(ReadZipField(field, &fields));
  }
  if (fields.inputs.missing() || fields.inputs.AsDocument().empty()) {
    return Error(Location(34465), "$zip requires at least one input array");
  }
  if (!fields.defaults.missing() && !fields.longest) {
    return Error(Location(34466), "cannot specify defaults unless useLongestLength is true");
  }
  std::vector<ExpressionPtr> children;
  EVENKEEL_RETURN_IF_ERROR(ParseElements(fields.inputs, scope, &children));
  const size_t count = children.size();
  if (!fields.defaults.missing()) {
    EVENKEEL_RETURN_IF_ERROR(ParseElements(fields.defaults, scope, &children));
    if (children.size() != 2 * count) {
      return Error(Location(34467), "defaults and inputs must have the same length");
    }
  }
  return MakeForm<ZipNode>(std::move(children), scope.context(), count, fields.longest);
}

constexpr ExprOp kRows[] = {
    {.name = "$arrayToObject",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalArrayToObject,
     .spec = "operator/aggregation/arrayToObject",
     .tests = "expressions/array/arrayToObject"},
    {.name = "$objectToArray",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalObjectToArray,
     .spec = "operator/aggregation/objectToArray",
     .tests = "expressions/object/objectToArray"},
    {.name = "$zip",
     .parse = ParseZip,
     .spec = "operator/aggregation/zip",
     .tests = "expressions/array/zip"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ArrayShapeOps() { return kRows; }

}  // namespace evenkeel::query::expr
