// Evaluation of the nodes that are no operators.
#include "query/expr/nodes.h"

#include "query/expr/field_path.h"

namespace evenkeel::query::expr {

absl::StatusOr<bson::Value> PathNode::Evaluate(Evaluation& evaluation) const {
  return FollowPath(evaluation.Variable(slot_), path_, 0, evaluation.arena());
}

void PathNode::AddDependencies(Dependencies& dependencies) const {
  if (slot_ != VariableSlot::kRoot) return;  // what the variable was made from is reported there
  if (path_.size() == 0) {
    dependencies.whole_document = true;
  } else {
    dependencies.paths.insert(path_.dotted());
  }
}

std::string_view PathNode::FieldPath() const {
  return slot_ == VariableSlot::kRoot ? std::string_view(path_.dotted()) : std::string_view();
}

absl::StatusOr<bson::Value> ObjectNode::Evaluate(Evaluation& evaluation) const {
  ArenaBuilder object(evaluation.arena(), bson::Type::kObject);
  for (size_t i = 0; i < values_.size(); ++i) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, values_[i]->Evaluate(evaluation));
    object.Append(names_[i], value);
  }
  return object.Finish();
}

void ObjectNode::AddDependencies(Dependencies& dependencies) const {
  for (const ExpressionPtr& value : values_) value->AddDependencies(dependencies);
}

absl::StatusOr<bson::Value> ArrayNode::Evaluate(Evaluation& evaluation) const {
  ArenaBuilder array(evaluation.arena(), bson::Type::kArray);
  for (const ExpressionPtr& expression : values_) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, expression->Evaluate(evaluation));
    array.Add(value);
  }
  return array.Finish();
}

void ArrayNode::AddDependencies(Dependencies& dependencies) const {
  for (const ExpressionPtr& value : values_) value->AddDependencies(dependencies);
}

absl::StatusOr<bson::Value> OperatorNode::Evaluate(Evaluation& evaluation) const {
  constexpr size_t kInline = 4;
  bson::Value few[kInline];  // all missing
  bson::Value* values = few;
  EvalArena& arena = evaluation.arena();
  const size_t count = args_.size();
  if (count > kInline) {
    static_assert(std::is_trivially_copyable_v<bson::Value> && alignof(bson::Value) <= 8);
    values = reinterpret_cast<bson::Value*>(arena.Allocate(count * sizeof(bson::Value)));
    std::uninitialized_default_construct_n(values, count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (args_[i] == nullptr || (!op_.named.empty() && op_.named[i].lazy)) continue;
    absl::StatusOr<bson::Value> value = args_[i]->Evaluate(evaluation);
    if (!value.ok()) return value;
    values[i] = *value;
  }
  if (op_.nulls == Nulls::kPropagate) {
    for (size_t i = 0; i < count; ++i) {
      if (values[i].IsNullish()) return NullValue();
    }
  }
  absl::StatusOr<bson::Value> result =
      op_.eval(Call{op_, {values, count}, evaluation, state_.get(), args_});
  if (arena.OverLimit()) {
    return Error(ErrorCode::kExceededMemoryLimit, "{} would use too much memory", op_.name);
  }
  return result;
}

void OperatorNode::AddDependencies(Dependencies& dependencies) const {
  if (!op_.pure) dependencies.random = true;
  for (const ExpressionPtr& arg : args_) {
    if (arg != nullptr) arg->AddDependencies(dependencies);
  }
}

}  // namespace evenkeel::query::expr
