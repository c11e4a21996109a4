// Parsing of arguments, folding of constants, and names of types.
#include "query/expr/kernel.h"

#include <algorithm>

#include "query/expr/nodes.h"

namespace evenkeel::query::expr {
namespace {

absl::Status CheckArity(const ExprOp& op, size_t given) {
  const auto count = static_cast<int>(given);
  const Arity arity = op.arity;
  if (arity.min == arity.max && count != arity.min) {
    return Error(Location(16020), "Expression {} takes exactly {} arguments. {} were passed in.",
                 op.name, arity.min, count);
  }
  if (count >= arity.min && (arity.max < 0 || count <= arity.max)) return absl::OkStatus();
  return Error(Location(28667),
               "Expression {} takes at least {} arguments, and at most {}, but {} were passed in.",
               op.name, arity.min, arity.max < 0 ? INT32_MAX : arity.max, count);
}

}  // namespace

absl::StatusOr<std::vector<ExpressionPtr>> ParseArgumentList(const ExprOp& op, bson::Value args,
                                                             ParseScope& scope) {
  std::vector<ExpressionPtr> parsed;
  if (args.Is(bson::Type::kArray)) {
    EVENKEEL_RETURN_IF_ERROR(CheckArity(op, args.AsDocument().CountFields()));
    for (const bson::Element& element : args.AsDocument()) {
      EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr arg, Expression::Parse(element.value, scope));
      parsed.push_back(std::move(arg));
    }
    return parsed;
  }
  EVENKEEL_RETURN_IF_ERROR(CheckArity(op, 1));
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr arg, Expression::Parse(args, scope));
  parsed.push_back(std::move(arg));
  return parsed;
}

absl::StatusOr<ExpressionPtr> ParseArguments(const ExprOp& op, bson::Value args,
                                             ParseScope& scope) {
  EVENKEEL_ASSIGN_OR_RETURN(std::vector<ExpressionPtr> parsed, ParseArgumentList(op, args, scope));
  return MakeOperator(op, std::move(parsed), scope.context());
}

absl::StatusOr<ExpressionPtr> ParseNamed(const ExprOp& op, bson::Value args, ParseScope& scope) {
  if (!args.Is(bson::Type::kObject)) {
    return Error(op.not_object, "{} only supports an object as its argument", op.name);
  }
  std::vector<ExpressionPtr> parsed(op.named.size());
  for (const auto& [key, value] : args.AsDocument()) {
    const auto* found =
        std::find_if(op.named.data(), op.named.data() + op.named.size(),
                     [name = key](const NamedArg& arg) { return arg.name == name; });
    const auto at = static_cast<size_t>(found - op.named.data());
    if (at == op.named.size()) {
      return Error(op.unknown_name, "Unrecognized argument to {}: {}", op.name, key);
    }
    EVENKEEL_ASSIGN_OR_RETURN(parsed[at], Expression::Parse(value, scope));
  }
  for (size_t i = 0; i < parsed.size(); ++i) {
    if (parsed[i] != nullptr) continue;
    if (op.named[i].required) {
      return Error(op.named[i].missing, "Missing '{}' parameter to {}", op.named[i].name, op.name);
    }
  }
  return MakeOperator(op, std::move(parsed), scope.context());
}

absl::StatusOr<ExpressionPtr> MakeOperator(const ExprOp& op, std::vector<ExpressionPtr> args,
                                           const QueryContext& context) {
  std::vector<std::optional<bson::Value>> constants;
  for (const ExpressionPtr& arg : args) {
    constants.push_back(arg == nullptr ? std::optional(bson::Value()) : arg->Constant());
  }
  const bool foldable =
      op.pure && std::all_of(constants.begin(), constants.end(),
                             [](const auto& constant) { return constant.has_value(); });
  std::unique_ptr<OpState> state;
  if (op.prepare != nullptr) {
    EVENKEEL_ASSIGN_OR_RETURN(state, op.prepare(constants, context));
  }
  auto node = std::make_unique<OperatorNode>(op, std::move(args), std::move(state));
  if (!foldable) return node;
  return Fold(std::move(node), context);
}

ExpressionPtr MakeConstant(bson::Value value) { return std::make_unique<ConstantNode>(value); }

absl::StatusOr<ExpressionPtr> Fold(ExpressionPtr node, const QueryContext& context) {
  Evaluation evaluation(context);
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, node->Evaluate(evaluation));
  return MakeConstant(value);
}

bool AllConstant(std::span<const ExpressionPtr> expressions) {
  return std::all_of(expressions.begin(), expressions.end(), [](const ExpressionPtr& expression) {
    return expression == nullptr || expression->Constant().has_value();
  });
}

std::optional<int32_t> Int32Of(bson::Value value) {
  if (!value.IsNumber()) return std::nullopt;
  const std::optional<int64_t> exact = bson::ToInt64Exact(value);
  if (!exact || *exact < INT32_MIN || *exact > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(*exact);
}

absl::Status WrongType(const Call& call, ErrorCode code, std::string_view wanted,
                       bson::Value value) {
  return Error(code, "{} {}, not {}", call.op.name, wanted, TypeName(value.type()));
}

}  // namespace evenkeel::query::expr
