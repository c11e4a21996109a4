// Array operators that evaluate an expression per element: $filter, $map, $reduce; and $sortArray.
#include <algorithm>

#include "base/bson/compare.h"
#include "query/expr/groups.h"
#include "query/expr/nodes.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

// The codes of the errors that $filter, $map and $reduce answer for a malformed argument.
struct FieldCodes {
  int not_object, unknown;
};

// Finds the named fields of an object argument. Errors: `codes` for no object or other fields.
absl::Status SplitFields(const ExprOp& op, bson::Value args, FieldCodes codes,
                         std::span<const std::string_view> names, bson::Value* fields) {
  if (!args.Is(Type::kObject)) {
    return Error(Location(codes.not_object), "{} only supports an object as its argument, not {}",
                 op.name, TypeName(args.type()));
  }
  for (const auto& [key, value] : args.AsDocument()) {
    const auto found = std::find(names.begin(), names.end(), key);
    if (found == names.end()) {
      return Error(Location(codes.unknown), "Unrecognized parameter to {}: {}", op.name, key);
    }
    fields[found - names.begin()] = value;
  }
  return absl::OkStatus();
}

absl::Status Require(const ExprOp& op, bson::Value field, int code, std::string_view name) {
  if (!field.missing()) return absl::OkStatus();
  return Error(Location(code), "Missing '{}' parameter to {}", name, op.name);
}

// The variable name of `as`, "this" when it is not given.
absl::StatusOr<std::string> VariableName(bson::Value as) {
  if (as.missing()) return std::string("this");
  if (!as.Is(Type::kString)) return Error(ErrorCode::kFailedToParse, "'as' must be a string");
  EVENKEEL_RETURN_IF_ERROR(CheckVariableName(as.AsString()));
  return std::string(as.AsString());
}

// Children: input, the expression per element, limit (null: none).
class FilterNode final : public FormNode {
 public:
  FilterNode(std::vector<ExpressionPtr> children, VariableSlot slot)
      : FormNode(std::move(children)), slot_(slot) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value input, EvaluateChild(0, evaluation));
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value limit, EvaluateChild(2, evaluation));
    if (input.IsNullish()) return NullValue();
    if (!input.Is(Type::kArray)) {
      return Error(Location(28651), "input to $filter must be an array not {}",
                   TypeName(input.type()));
    }
    EVENKEEL_ASSIGN_OR_RETURN(const size_t count_max, LimitOf(limit));
    ArenaBuilder kept(evaluation.arena(), Type::kArray);
    for (const bson::Element& element : input.AsDocument()) {
      if (kept.count() >= count_max) break;
      evaluation.SetVariable(slot_, element.value);
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value keep, EvaluateChild(1, evaluation));
      if (bson::Truthy(keep)) kept.Add(element.value);
    }
    return kept.Finish();
  }

 private:
  static absl::StatusOr<size_t> LimitOf(bson::Value limit) {
    if (limit.IsNullish()) return SIZE_MAX;
    const std::optional<int32_t> count = Int32Of(limit);
    if (!count) {
      return Error(Location(327391),
                   "$filter: limit must be represented as a 32-bit integral value");
    }
    if (*count <= 0) return Error(Location(327392), "$filter: limit must be greater than 0");
    return static_cast<size_t>(*count);
  }

  VariableSlot slot_;
};

absl::StatusOr<ExpressionPtr> ParseFilter(const ExprOp& op, bson::Value args, ParseScope& scope) {
  constexpr std::string_view kNames[] = {"input", "as", "cond", "limit"};
  bson::Value fields[4];
  EVENKEEL_RETURN_IF_ERROR(SplitFields(op, args, {28646, 28647}, kNames, fields));
  EVENKEEL_RETURN_IF_ERROR(Require(op, fields[0], 28648, "input"));
  EVENKEEL_RETURN_IF_ERROR(Require(op, fields[2], 28650, "cond"));
  std::vector<ExpressionPtr> children(3);
  EVENKEEL_ASSIGN_OR_RETURN(children[0], Expression::Parse(fields[0], scope));
  if (!fields[3].missing()) {
    EVENKEEL_ASSIGN_OR_RETURN(children[2], Expression::Parse(fields[3], scope));
  }
  EVENKEEL_ASSIGN_OR_RETURN(const std::string name, VariableName(fields[1]));
  const ParseScope::Frame frame(scope);
  const VariableSlot slot = scope.Define(name);
  EVENKEEL_ASSIGN_OR_RETURN(children[1], Expression::Parse(fields[2], scope));
  return MakeForm<FilterNode>(std::move(children), scope.context(), slot);
}

// Children: input, the expression per element.
class MapNode final : public FormNode {
 public:
  MapNode(std::vector<ExpressionPtr> children, VariableSlot slot)
      : FormNode(std::move(children)), slot_(slot) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value input, EvaluateChild(0, evaluation));
    if (input.IsNullish()) return NullValue();
    if (!input.Is(Type::kArray)) {
      return Error(Location(16883), "input to $map must be an array not {}",
                   TypeName(input.type()));
    }
    ArenaBuilder mapped(evaluation.arena(), Type::kArray);
    for (const bson::Element& element : input.AsDocument()) {
      evaluation.SetVariable(slot_, element.value);
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, EvaluateChild(1, evaluation));
      mapped.Add(value);
      if (evaluation.arena().OverLimit()) {
        return Error(ErrorCode::kExceededMemoryLimit, "$map would use too much memory");
      }
    }
    return mapped.Finish();
  }

 private:
  VariableSlot slot_;
};

absl::StatusOr<ExpressionPtr> ParseMap(const ExprOp& op, bson::Value args, ParseScope& scope) {
  constexpr std::string_view kNames[] = {"input", "as", "in"};
  bson::Value fields[3];
  EVENKEEL_RETURN_IF_ERROR(SplitFields(op, args, {16878, 16879}, kNames, fields));
  EVENKEEL_RETURN_IF_ERROR(Require(op, fields[0], 16880, "input"));
  EVENKEEL_RETURN_IF_ERROR(Require(op, fields[2], 16882, "in"));
  std::vector<ExpressionPtr> children(2);
  EVENKEEL_ASSIGN_OR_RETURN(children[0], Expression::Parse(fields[0], scope));
  EVENKEEL_ASSIGN_OR_RETURN(const std::string name, VariableName(fields[1]));
  const ParseScope::Frame frame(scope);
  const VariableSlot slot = scope.Define(name);
  EVENKEEL_ASSIGN_OR_RETURN(children[1], Expression::Parse(fields[2], scope));
  return MakeForm<MapNode>(std::move(children), scope.context(), slot);
}

// Children: input, initialValue, in.
class ReduceNode final : public FormNode {
 public:
  ReduceNode(std::vector<ExpressionPtr> children, VariableSlot item, VariableSlot value)
      : FormNode(std::move(children)), item_(item), value_(value) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value input, EvaluateChild(0, evaluation));
    if (input.IsNullish()) return NullValue();
    if (!input.Is(Type::kArray)) {
      return Error(Location(40080), "$reduce requires that 'input' be an array, found: {}",
                   TypeName(input.type()));
    }
    EVENKEEL_ASSIGN_OR_RETURN(bson::Value value, EvaluateChild(1, evaluation));
    for (const bson::Element& element : input.AsDocument()) {
      evaluation.SetVariable(item_, element.value);
      evaluation.SetVariable(value_, value);
      EVENKEEL_ASSIGN_OR_RETURN(value, EvaluateChild(2, evaluation));
      if (evaluation.arena().OverLimit()) {
        return Error(ErrorCode::kExceededMemoryLimit, "$reduce would use too much memory");
      }
    }
    return value;
  }

 private:
  VariableSlot item_, value_;
};

absl::StatusOr<ExpressionPtr> ParseReduce(const ExprOp& op, bson::Value args, ParseScope& scope) {
  constexpr std::string_view kNames[] = {"input", "initialValue", "in"};
  bson::Value fields[3];
  EVENKEEL_RETURN_IF_ERROR(SplitFields(op, args, {40075, 40076}, kNames, fields));
  for (size_t i = 0; i < 3; ++i) {
    EVENKEEL_RETURN_IF_ERROR(Require(op, fields[i], 40077 + static_cast<int>(i), kNames[i]));
  }
  std::vector<ExpressionPtr> children(3);
  EVENKEEL_ASSIGN_OR_RETURN(children[0], Expression::Parse(fields[0], scope));
  EVENKEEL_ASSIGN_OR_RETURN(children[1], Expression::Parse(fields[1], scope));
  const ParseScope::Frame frame(scope);
  const VariableSlot item = scope.Define("this");
  const VariableSlot value = scope.Define("value");
  EVENKEEL_ASSIGN_OR_RETURN(children[2], Expression::Parse(fields[2], scope));
  return MakeForm<ReduceNode>(std::move(children), scope.context(), item, value);
}

// Children: input. Sorts by a pattern over object elements, or whole values when the pattern is
// empty.
class SortArrayNode final : public FormNode {
 public:
  SortArrayNode(std::vector<ExpressionPtr> children, SortPattern pattern, bool ascending)
      : FormNode(std::move(children)), pattern_(std::move(pattern)), ascending_(ascending) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value input, EvaluateChild(0, evaluation));
    if (input.IsNullish()) return NullValue();
    if (!input.Is(Type::kArray)) {
      return Error(Location(2942504),
                   "The input argument to $sortArray must be an array, but was of type: {}",
                   TypeName(input.type()));
    }
    std::vector<bson::Value> elements;
    for (const bson::Element& element : input.AsDocument()) elements.push_back(element.value);
    const auto* collation = evaluation.collation();
    std::stable_sort(elements.begin(), elements.end(), [&](bson::Value a, bson::Value b) {
      if (!pattern_.empty()) {
        return pattern_.CompareDocuments(ObjectOf(a), ObjectOf(b), collation) < 0;
      }
      const int order = bson::Compare(a, b, collation);
      return ascending_ ? order < 0 : order > 0;
    });
    ArenaBuilder sorted(evaluation.arena(), Type::kArray);
    for (const bson::Value& element : elements) sorted.Add(element);
    return sorted.Finish();
  }

 private:
  static bson::View ObjectOf(bson::Value value) {
    return value.Is(Type::kObject) ? value.AsDocument() : bson::View();
  }
  SortPattern pattern_;
  bool ascending_;
};

absl::StatusOr<ExpressionPtr> ParseSortArray(const ExprOp& op, bson::Value args,
                                             ParseScope& scope) {
  constexpr std::string_view kNames[] = {"input", "sortBy"};
  bson::Value fields[2];
  EVENKEEL_RETURN_IF_ERROR(SplitFields(op, args, {2942500, 2942501}, kNames, fields));
  EVENKEEL_RETURN_IF_ERROR(Require(op, fields[0], 2942502, "input"));
  EVENKEEL_RETURN_IF_ERROR(Require(op, fields[1], 2942503, "sortBy"));
  const bson::Value sort_by = fields[1];
  SortPattern pattern;
  bool ascending = true;
  if (sort_by.Is(Type::kObject)) {
    if (sort_by.AsDocument().empty()) {
      return Error(Location(2942505), "$sortArray needs at least one field to sort by");
    }
    for (const bson::Element& field : sort_by.AsDocument()) {
      const std::optional<int32_t> direction = Int32Of(field.value);
      if (!direction || (*direction != 1 && *direction != -1)) {
        return Error(Location(2942505), "Illegal sort direction in $sortArray");
      }
    }
    EVENKEEL_ASSIGN_OR_RETURN(pattern, SortPattern::Parse(sort_by.AsDocument()));
  } else if (sort_by.IsNumber()) {
    const std::optional<int32_t> direction = Int32Of(sort_by);
    if (!direction || (*direction != 1 && *direction != -1)) {
      return Error(Location(2942506), "sortBy must be 1 or -1 in $sortArray");
    }
    ascending = *direction == 1;
  } else {
    return Error(Location(2942507), "sortBy must be an object, 1, or -1 in $sortArray");
  }
  std::vector<ExpressionPtr> children(1);
  EVENKEEL_ASSIGN_OR_RETURN(children[0], Expression::Parse(fields[0], scope));
  return MakeForm<SortArrayNode>(std::move(children), scope.context(), std::move(pattern),
                                 ascending);
}

constexpr ExprOp kRows[] = {
    {.name = "$filter",
     .parse = ParseFilter,
     .spec = "operator/aggregation/filter",
     .tests = "expressions/array/filter"},
    {.name = "$map",
     .parse = ParseMap,
     .spec = "operator/aggregation/map",
     .tests = "expressions/array/map"},
    {.name = "$reduce",
     .parse = ParseReduce,
     .spec = "operator/aggregation/reduce",
     .tests = "expressions/array/reduce"},
    {.name = "$sortArray",
     .parse = ParseSortArray,
     .spec = "operator/aggregation/sortArray",
     .tests = "expressions/array/sortArray"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ArrayLambdaOps() { return kRows; }

}  // namespace evenkeel::query::expr
