// Checks of pipelines within pipelines.
#include "query/stage/sub_pipeline.h"

#include <algorithm>
#include <iterator>

#include "base/bson/builder.h"
#include "query/stage/pipeline.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

constexpr int kDepthMax = 20;  // as MongoDB's

// How many pipelines are within one another, this one included.
int DepthOf(bson::View stages) {
  int inner = 0;
  for (const bson::Element& stage : stages) {
    if (!stage.value.Is(Type::kObject)) continue;
    const bson::Element only = stage.value.AsDocument().Front();
    if (only.key != "$lookup" && only.key != "$unionWith") continue;
    if (!only.value.Is(Type::kObject)) continue;
    const bson::Value pipeline = only.value.AsDocument()["pipeline"];
    if (pipeline.Is(Type::kArray)) inner = std::max(inner, DepthOf(pipeline.AsDocument()));
  }
  return inner + 1;
}

absl::Status CheckStages(bson::View stages, ErrorCode writes) {
  for (const bson::Element& element : stages) {
    if (!element.value.Is(Type::kObject)) continue;  // said by the pipeline's parser
    const StageOp* op = FindStage(element.value.AsDocument().Front().key);
    if (op == nullptr) continue;
    if (op->writes) {
      return Error(writes, "{} is not allowed within a pipeline over another collection", op->name);
    }
    if (op->whole_database) {
      return Error(ErrorCode::kInvalidNamespace,
                   "{} must be run against the 'admin' or another database with {{aggregate: 1}}",
                   op->name);
    }
  }
  return absl::OkStatus();
}

// Errors that do not depend on values: a variable whose value is not known cannot be their cause.
bool DependsOnNoValue(const absl::Status& status) {
  constexpr int32_t kCodes[] = {9,     14,    72,    73,    168,   232,   15974,
                                15975, 15998, 16410, 17276, 17313, 31441, 40323,
                                40324, 40600, 40601, 40602, 51047};
  const auto code = static_cast<int32_t>(CodeOf(status));
  return std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

}  // namespace

absl::Status CheckSubPipeline(bson::View stages, const std::vector<std::string_view>& variables,
                              ErrorCode writes, const QueryContext& context) {
  if (DepthOf(stages) > kDepthMax) {
    return Error(Location(232), "Maximum number of nested sub-pipelines exceeded. Limit is {}",
                 kDepthMax);
  }
  EVENKEEL_RETURN_IF_ERROR(CheckStages(stages, writes));
  QueryContext inner = context;
  inner.internal = false;
  bson::Builder let(context.let.view());
  for (const std::string_view name : variables) let.AppendNull(name);
  inner.let = let.Finish();
  const absl::Status status = Pipeline::Parse(stages, inner).status();
  if (status.ok() || variables.empty() || DependsOnNoValue(status)) return status;
  return absl::OkStatus();
}

bool ReadsOnlyItsInput(bson::View stages) {
  for (const bson::Element& element : stages) {
    if (!element.value.Is(Type::kObject)) return false;
    const bson::Element only = element.value.AsDocument().Front();
    const StageOp* op = FindStage(only.key);
    if (op == nullptr || op->where == Where::kRouter || op->source != Source::kInput) return false;
    if (only.key != "$facet" || !only.value.Is(Type::kObject)) continue;
    for (const bson::Element& branch : only.value.AsDocument()) {
      if (!branch.value.Is(Type::kArray)) return false;
      if (!ReadsOnlyItsInput(branch.value.AsDocument())) return false;
    }
  }
  return true;
}

std::string SiblingNamespace(const QueryContext& context, std::string_view collection) {
  std::string ns = context.ns.substr(0, context.ns.find('.'));
  return ns.append(".").append(collection);
}

}  // namespace evenkeel::query::stage
