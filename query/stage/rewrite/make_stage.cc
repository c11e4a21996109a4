// Stages out of specifications that rewrites have made.
#include "base/check.h"
#include "query/stage/rewrite/rules.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {

std::unique_ptr<Stage> MakeStage(std::string_view name, bson::View spec,
                                 const QueryContext& context) {
  const StageOp* op = FindStage(name);
  EVENKEEL_CHECK(op != nullptr);
  StageList made;
  const bson::Value value(bson::Type::kObject, spec.data());
  if (!op->parse(*op, value, context, &made).ok() || made.size() != 1) return nullptr;
  return std::move(made.front());
}

}  // namespace evenkeel::query::stage
