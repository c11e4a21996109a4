// Evaluates a command's variables.
#include "query/expr/let.h"

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/expr/expression.h"

namespace evenkeel::query {
namespace {

absl::StatusOr<bson::Document> EvaluateOne(bson::Value spec, const QueryContext& context) {
  EVENKEEL_ASSIGN_OR_RETURN(const ExpressionPtr expression, Expression::Parse(spec, context));
  Dependencies dependencies;
  expression->AddDependencies(dependencies);
  if (dependencies.whole_document || !dependencies.paths.empty()) {
    return Error(Location(4890500),
                 "a command's let parameter is evaluated before any document is read, so its "
                 "expressions cannot use fields");
  }
  Evaluation evaluation(context);
  evaluation.Begin(bson::View());
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, expression->Evaluate(evaluation));
  bson::Builder wrapped;
  if (value.missing()) {
    wrapped.AppendNull("");
  } else {
    wrapped.Append("", value);
  }
  return wrapped.Finish();
}

}  // namespace

absl::StatusOr<bson::Document> EvaluateLet(bson::View let, const QueryContext& context) {
  QueryContext known = context;
  for (const auto& [name, spec] : let) {
    EVENKEEL_RETURN_IF_ERROR(CheckVariableName(name));
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Document value, EvaluateOne(spec, known));
    bson::Builder more(known.let.view());
    more.Append(name, value.view().Front().value);
    known.let = more.Finish();
  }
  return std::move(known.let);
}

}  // namespace evenkeel::query
