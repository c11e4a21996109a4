// $cond, $ifNull, $switch: only the branch that is taken is evaluated.
#include "query/expr/groups.h"
#include "query/expr/nodes.h"

namespace evenkeel::query::expr {
namespace {

// Children: if, then, else.
class CondNode final : public FormNode {
 public:
  using FormNode::FormNode;
  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value condition, EvaluateChild(0, evaluation));
    return EvaluateChild(bson::Truthy(condition) ? 1 : 2, evaluation);
  }
};

constexpr std::string_view kCondParts[] = {"if", "then", "else"};

absl::StatusOr<ExpressionPtr> ParseCond(const ExprOp& op, bson::Value args, ParseScope& scope) {
  if (!args.Is(bson::Type::kObject)) {
    EVENKEEL_ASSIGN_OR_RETURN(auto parsed, ParseArgumentList(op, args, scope));
    return MakeForm<CondNode>(std::move(parsed), scope.context());
  }
  std::vector<ExpressionPtr> children(3);
  for (const auto& [key, value] : args.AsDocument()) {
    size_t at = 0;
    while (at < 3 && kCondParts[at] != key) ++at;
    if (at == 3) return Error(Location(17083), "Unrecognized parameter to $cond: {}", key);
    EVENKEEL_ASSIGN_OR_RETURN(children[at], Expression::Parse(value, scope));
  }
  for (size_t at = 0; at < 3; ++at) {
    if (children[at] == nullptr) {
      return Error(Location(17080 + static_cast<int>(at)), "Missing '{}' parameter to $cond",
                   kCondParts[at]);
    }
  }
  return MakeForm<CondNode>(std::move(children), scope.context());
}

// The first child that is not null, else the last one.
class IfNullNode final : public FormNode {
 public:
  using FormNode::FormNode;
  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    for (size_t at = 0; at + 1 < children_.size(); ++at) {
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, EvaluateChild(at, evaluation));
      if (!value.IsNullish()) return value;
    }
    return EvaluateChild(children_.size() - 1, evaluation);
  }
};

absl::StatusOr<ExpressionPtr> ParseIfNull(const ExprOp& op, bson::Value args, ParseScope& scope) {
  if (!args.Is(bson::Type::kArray) || args.AsDocument().CountFields() < 2) {
    return Error(Location(1257300), "$ifNull needs at least two arguments");
  }
  EVENKEEL_ASSIGN_OR_RETURN(auto children, ParseArgumentList(op, args, scope));
  return MakeForm<IfNullNode>(std::move(children), scope.context());
}

// Children: case, then, case, then, …, and last the default, null when there is none.
class SwitchNode final : public FormNode {
 public:
  using FormNode::FormNode;
  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    for (size_t at = 0; at + 1 < children_.size(); at += 2) {
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value chosen, EvaluateChild(at, evaluation));
      if (bson::Truthy(chosen)) return EvaluateChild(at + 1, evaluation);
    }
    if (children_.back() == nullptr) {
      return Error(
          Location(40066),
          "$switch could not find a matching branch for an input, and no default was specified");
    }
    return EvaluateChild(children_.size() - 1, evaluation);
  }
};

absl::Status ParseBranch(bson::Value branch, ParseScope& scope,
                         std::vector<ExpressionPtr>* children) {
  if (!branch.Is(bson::Type::kObject)) {
    return Error(Location(40062), "$switch expected each branch to be an object, found: {}",
                 TypeName(branch.type()));
  }
  ExpressionPtr chosen, then;
  for (const auto& [key, value] : branch.AsDocument()) {
    if (key != "case" && key != "then") {
      return Error(Location(40063), "$switch found an unknown argument to a branch: {}", key);
    }
    EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr parsed, Expression::Parse(value, scope));
    (key == "case" ? chosen : then) = std::move(parsed);
  }
  if (chosen == nullptr)
    return Error(Location(40064), "$switch requires each branch have a 'case' expression");
  if (then == nullptr)
    return Error(Location(40065), "$switch requires each branch have a 'then' expression");
  children->push_back(std::move(chosen));
  children->push_back(std::move(then));
  return absl::OkStatus();
}

absl::StatusOr<ExpressionPtr> ParseSwitch(const ExprOp&, bson::Value args, ParseScope& scope) {
  if (!args.Is(bson::Type::kObject)) {
    return Error(Location(40060), "$switch requires an object as an argument, found: {}",
                 TypeName(args.type()));
  }
  std::vector<ExpressionPtr> children;
  ExpressionPtr otherwise;
  for (const auto& [key, value] : args.AsDocument()) {
    if (key == "default") {
      EVENKEEL_ASSIGN_OR_RETURN(otherwise, Expression::Parse(value, scope));
    } else if (key == "branches") {
      if (!value.Is(bson::Type::kArray)) {
        return Error(Location(40061), "$switch expected an array for 'branches', found: {}",
                     TypeName(value.type()));
      }
      for (const bson::Element& branch : value.AsDocument()) {
        EVENKEEL_RETURN_IF_ERROR(ParseBranch(branch.value, scope, &children));
      }
    } else {
      return Error(Location(40067), "$switch found an unknown argument: {}", key);
    }
  }
  if (children.empty()) return Error(Location(40068), "$switch requires at least one branch.");
  if (otherwise == nullptr) {
    bool all_false = true;
    for (size_t at = 0; at < children.size(); at += 2) {
      const std::optional<bson::Value> constant = children[at]->Constant();
      all_false = all_false && constant && !bson::Truthy(*constant);
    }
    if (all_false) {
      return Error(Location(40069),
                   "Cannot execute a switch statement where all the cases evaluate to false "
                   "without a default");
    }
  }
  children.push_back(std::move(otherwise));
  return MakeForm<SwitchNode>(std::move(children), scope.context());
}

constexpr ExprOp kRows[] = {
    {.name = "$cond",
     .arity = Arity::Exactly(3),
     .parse = ParseCond,
     .spec = "operator/aggregation/cond",
     .tests = "expressions/conditional/cond"},
    {.name = "$ifNull",
     .arity = Arity::AtLeast(2),
     .parse = ParseIfNull,
     .spec = "operator/aggregation/ifNull",
     .tests = "expressions/conditional/ifNull"},
    {.name = "$switch",
     .parse = ParseSwitch,
     .spec = "operator/aggregation/switch",
     .tests = "expressions/conditional/switch"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ConditionalOps() { return kRows; }

}  // namespace evenkeel::query::expr
