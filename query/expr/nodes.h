// The nodes of a compiled expression that are no operators: constants, paths, object and array
// literals, applications.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/document.h"
#include "base/bson/path.h"
#include "query/expr/kernel.h"

namespace evenkeel::query::expr {

class ConstantNode final : public Expression {
 public:
  explicit ConstantNode(bson::Value value) : value_(value) {}
  absl::StatusOr<bson::Value> Evaluate(Evaluation&) const override { return value_.value(); }
  void AddDependencies(Dependencies&) const override {}
  std::optional<bson::Value> Constant() const override { return value_.value(); }

 private:
  bson::OwnedValue value_;
};

// "$a.b" and "$$name.a.b": a variable and the path below it, which may be empty.
class PathNode final : public Expression {
 public:
  // `path` without the variable's name.
  PathNode(VariableSlot slot, std::string_view path)
      : slot_(slot), path_(path.empty() ? bson::Path() : bson::Path(path)) {}
  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override;
  void AddDependencies(Dependencies& dependencies) const override;
  std::string_view FieldPath() const override;

 private:
  VariableSlot slot_;
  bson::Path path_;
};

// {a: …, b: …}: fields without a value are left out.
class ObjectNode final : public Expression {
 public:
  ObjectNode(std::vector<std::string> names, std::vector<ExpressionPtr> values)
      : names_(std::move(names)), values_(std::move(values)) {}
  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override;
  void AddDependencies(Dependencies& dependencies) const override;

 private:
  std::vector<std::string> names_;
  std::vector<ExpressionPtr> values_;
};

// [ …, … ]: elements without a value become null.
class ArrayNode final : public Expression {
 public:
  explicit ArrayNode(std::vector<ExpressionPtr> values) : values_(std::move(values)) {}
  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override;
  void AddDependencies(Dependencies& dependencies) const override;

 private:
  std::vector<ExpressionPtr> values_;
};

// An operator applied to arguments by its row's eval function.
class OperatorNode final : public Expression {
 public:
  OperatorNode(const ExprOp& op, std::vector<ExpressionPtr> args, std::unique_ptr<OpState> state)
      : op_(op), args_(std::move(args)), state_(std::move(state)) {}
  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override;
  void AddDependencies(Dependencies& dependencies) const override;

 private:
  const ExprOp& op_;
  std::vector<ExpressionPtr> args_;
  std::unique_ptr<OpState> state_;
};

// Base of operators that decide themselves which arguments are evaluated. Null children are left
// out.
class FormNode : public Expression {
 public:
  explicit FormNode(std::vector<ExpressionPtr> children) : children_(std::move(children)) {}
  void AddDependencies(Dependencies& dependencies) const override {
    for (const ExpressionPtr& child : children_) {
      if (child != nullptr) child->AddDependencies(dependencies);
    }
  }

 protected:
  // Evaluates one child; missing when it was left out.
  absl::StatusOr<bson::Value> EvaluateChild(size_t at, Evaluation& evaluation) const {
    if (children_[at] == nullptr) return bson::Value();
    return children_[at]->Evaluate(evaluation);
  }
  std::vector<ExpressionPtr> children_;
};

// Makes a form, or the constant that it stands for. `args` are the constructor's arguments after
// the children.
template <typename Node, typename... Args>
absl::StatusOr<ExpressionPtr> MakeForm(std::vector<ExpressionPtr> children,
                                       const QueryContext& context, Args&&... args) {
  const bool constant = AllConstant(children);
  auto node = std::make_unique<Node>(std::move(children), std::forward<Args>(args)...);
  if (!constant) return node;
  return Fold(std::move(node), context);
}

}  // namespace evenkeel::query::expr
