// Implements updates by pipelines: the stages run over one document.
#include "query/update/pipeline_update.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/status.h"
#include "query/exec/operator.h"

namespace evenkeel::query::update {
namespace {

constexpr std::array<std::string_view, 6> kStages = {"$addFields",   "$project", "$replaceRoot",
                                                     "$replaceWith", "$set",     "$unset"};

}  // namespace

absl::StatusOr<std::unique_ptr<PipelineUpdate>> PipelineUpdate::Parse(bson::View stages,
                                                                      const QueryContext& context) {
  for (const bson::Element& stage : stages) {
    if (!stage.value.Is(bson::Type::kObject)) continue;  // refused by the parse below
    const std::string_view name = stage.value.AsDocument().Front().key;
    if (name.starts_with('$') && std::find(kStages.begin(), kStages.end(), name) == kStages.end()) {
      return Error(ErrorCode::kInvalidOptions, "{} is not allowed to be used within an update",
                   name);
    }
  }
  EVENKEEL_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::Parse(stages, context));
  return std::unique_ptr<PipelineUpdate>(new PipelineUpdate(std::move(pipeline), context));
}

absl::StatusOr<bson::Document> PipelineUpdate::Apply(bson::View document) const {
  auto input = std::make_unique<InputQueue>();
  input->Push(Row::Borrow(document));
  input->Finish();
  EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<Operator> last,
                            pipeline_.Build(std::move(input), context_));
  Batch batch;
  while (batch.empty()) {
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, last->Pull(&batch));
    if (step == Step::kEnd) break;
  }
  if (batch.empty())
    return Error(ErrorCode::kInternalError, "an update's pipeline gave no document");
  return bson::Document(batch.front().view);
}

}  // namespace evenkeel::query::update
