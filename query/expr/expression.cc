// Compiles BSON into expression nodes: literals, paths, variables, objects, arrays, operators.
#include "query/expr/expression.h"

#include <algorithm>

#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/expr/let.h"
#include "query/expr/nodes.h"
#include "query/expr/table.h"

namespace evenkeel::query {
namespace {

using expr::MakeConstant;

// What lies at `path` below a constant; the constant itself when the path is empty.
bson::Value FollowConstant(bson::Value value, std::string_view path, EvalArena& arena) {
  return path.empty() ? value : expr::FollowPath(value, bson::Path(path), 0, arena);
}

// $$NAME where NAME is one of the system's; null for others.
absl::StatusOr<ExpressionPtr> SystemVariable(std::string_view name, std::string_view path,
                                             ParseScope& scope) {
  EvalArena arena;
  const QueryContext& context = scope.context();
  bson::Value value;
  if (name == "ROOT" || name == "CURRENT") {
    return std::make_unique<expr::PathNode>(VariableSlot::kRoot, path);
  }
  if (name == "NOW") {
    value = arena.Date(context.now_ms);
  } else if (name == "CLUSTER_TIME") {
    if (context.cluster_time == Timestamp{}) {
      return Error(Location(10071200), "CLUSTER_TIME is not available");
    }
    value = arena.TimestampValue(context.cluster_time);
  } else if (name == "USER_ROLES") {
    value = EmptyArray();
  } else if (name == "KEEP" || name == "PRUNE" || name == "DESCEND") {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    value = arena.String(lower);
  } else if (name != "REMOVE") {
    return ExpressionPtr();
  }
  return MakeConstant(FollowConstant(value, path, arena));
}

// True for the first character of a name that users may define.
bool IsLowerOrWide(char c) { return (c >= 'a' && c <= 'z') || static_cast<uint8_t>(c) >= 0x80; }

absl::Status CheckNameCharacters(std::string_view name) {
  for (const char c : name) {
    const bool good =
        IsLowerOrWide(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!good) {
      return Error(ErrorCode::kFailedToParse,
                   "'{}' contains an invalid character for a variable name: '{}'", name, c);
    }
  }
  return absl::OkStatus();
}

// "$$name" and "$$name.a.b"; `text` has no dollars.
absl::StatusOr<ExpressionPtr> ParseVariable(std::string_view text, ParseScope& scope) {
  const size_t dot = text.find('.');
  const std::string_view name = text.substr(0, dot);
  const std::string_view path = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  if (name.empty()) return Error(ErrorCode::kFailedToParse, "empty variable names are not allowed");
  EVENKEEL_RETURN_IF_ERROR(CheckNameCharacters(name));
  if (dot != std::string_view::npos) {
    if (path.empty()) return Error(Location(40353), "FieldPath must not end with a '.'");
    EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(path));
  }
  if (const std::optional<VariableSlot> slot = scope.Find(name)) {
    return std::make_unique<expr::PathNode>(*slot, path);
  }
  if (const bson::Value value = scope.context().let[name]; !value.missing()) {
    // A variable without a value, which a document cannot say otherwise.
    if (value.Is(bson::Type::kUndefined)) return MakeConstant(bson::Value());
    EvalArena arena;
    return MakeConstant(FollowConstant(value, path, arena));
  }
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr system, SystemVariable(name, path, scope));
  if (system != nullptr) return system;
  return Error(Location(17276), "Use of undefined variable: {}", name);
}

absl::StatusOr<ExpressionPtr> ParseString(bson::Value spec, ParseScope& scope) {
  const std::string_view text = spec.AsString();
  if (text.empty() || text.front() != '$') return MakeConstant(spec);
  if (text.size() >= 2 && text[1] == '$') return ParseVariable(text.substr(2), scope);
  if (text.size() == 1) return Error(Location(16872), "'$' by itself is not a valid FieldPath");
  const std::string_view path = text.substr(1);
  EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(path));
  return std::make_unique<expr::PathNode>(scope.Find("CURRENT").value_or(VariableSlot::kRoot),
                                          path);
}

absl::StatusOr<ExpressionPtr> ParseOperator(const bson::Element& element, ParseScope& scope) {
  const expr::ExprOp* op = expr::FindOperator(element.key);
  if (op == nullptr) {
    return Error(expr::kInvalidPipelineOperator, "Unrecognized expression '{}'", element.key);
  }
  if (op->parse == nullptr) {
    return Error(ErrorCode::kCommandNotSupported, "the expression {} is not supported", op->name);
  }
  return op->parse(*op, element.value, scope);
}

absl::StatusOr<ExpressionPtr> ParseObject(bson::View spec, ParseScope& scope) {
  if (const bson::Element first = spec.Front(); first.key.starts_with('$')) {
    if (spec.CountFields() != 1) {
      return Error(Location(15983),
                   "an object representing an expression must have exactly one field");
    }
    return ParseOperator(first, scope);
  }
  std::vector<std::string> names;
  std::vector<ExpressionPtr> values;
  for (const auto& [key, value] : spec) {
    EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldName(key));
    if (std::find(names.begin(), names.end(), key) != names.end()) {
      return Error(Location(16406), "duplicate field name specified in object literal: {}", key);
    }
    names.emplace_back(key);
    EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr parsed, Expression::Parse(value, scope));
    values.push_back(std::move(parsed));
  }
  const bool constant = expr::AllConstant(values);
  ExpressionPtr node = std::make_unique<expr::ObjectNode>(std::move(names), std::move(values));
  if (!constant) return node;
  return expr::Fold(std::move(node), scope.context());
}

absl::StatusOr<ExpressionPtr> ParseArray(bson::View spec, ParseScope& scope) {
  std::vector<ExpressionPtr> values;
  for (const bson::Element& element : spec) {
    EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr parsed, Expression::Parse(element.value, scope));
    values.push_back(std::move(parsed));
  }
  const bool constant = expr::AllConstant(values);
  ExpressionPtr node = std::make_unique<expr::ArrayNode>(std::move(values));
  if (!constant) return node;
  return expr::Fold(std::move(node), scope.context());
}

}  // namespace

std::optional<std::vector<std::string>> Dependencies::TopLevelFields() const {
  if (whole_document) return std::nullopt;
  std::vector<std::string> fields;
  for (const std::string& path : paths) {
    std::string first = path.substr(0, path.find('.'));
    if (std::find(fields.begin(), fields.end(), first) == fields.end()) {
      fields.push_back(std::move(first));
    }
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

VariableSlot ParseScope::Define(std::string_view name) {
  names_.emplace_back(name);
  return static_cast<VariableSlot>(names_.size() - 1);
}

std::optional<VariableSlot> ParseScope::Find(std::string_view name) const {
  for (size_t i = names_.size(); i-- > 0;) {
    if (names_[i] == name) return static_cast<VariableSlot>(i);
  }
  return std::nullopt;
}

absl::Status CheckVariableName(std::string_view name) {
  if (name == "CURRENT") return absl::OkStatus();
  if (name.empty()) return Error(ErrorCode::kFailedToParse, "empty variable names are not allowed");
  if (!IsLowerOrWide(name.front())) {
    return Error(ErrorCode::kFailedToParse,
                 "'{}' starts with an invalid character for a user variable name", name);
  }
  return CheckNameCharacters(name);
}

absl::Status CheckLetNames(bson::View let) {
  for (const bson::Element& variable : let) {
    EVENKEEL_RETURN_IF_ERROR(CheckVariableName(variable.key));
  }
  return absl::OkStatus();
}

absl::StatusOr<ExpressionPtr> Expression::Parse(bson::Value spec, ParseScope& scope) {
  switch (spec.type()) {
    case bson::Type::kString:
      return ParseString(spec, scope);
    case bson::Type::kObject:
      return ParseObject(spec.AsDocument(), scope);
    case bson::Type::kArray:
      return ParseArray(spec.AsDocument(), scope);
    default:
      return MakeConstant(spec);
  }
}

absl::StatusOr<ExpressionPtr> Expression::Parse(bson::Value spec, const QueryContext& context) {
  ParseScope scope(context);
  return Parse(spec, scope);
}

}  // namespace evenkeel::query
