// The stage behind $project, $addFields, $set and $unset: a projection applied to each row.
#pragma once

#include "query/exec/streaming.h"
#include "query/project/projection.h"
#include "query/stage/rewrite/reads.h"
#include "query/stage/stage.h"

namespace evenkeel::query::stage {

class ProjectionStage final : public Stage {
 public:
  // `changed`: the dotted paths that may differ afterwards; nothing when that cannot be told.
  ProjectionStage(const StageOp& op, bson::Value spec, Projection projection,
                  std::optional<std::vector<std::string>> changed)
      : Stage(op, spec), projection_(std::move(projection)), changed_(std::move(changed)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext&) const override {
    return std::make_unique<ProjectOperator>(std::move(input), projection_);
  }
  bool MatchMayPass(const std::vector<std::string>& paths) const override {
    if (!changed_) return false;
    for (const std::string& changed : *changed_) {
      if (AnyOverlap(paths, changed)) return false;
    }
    return true;
  }
  Reads AddReads(const QueryContext& context, Dependencies* reads) const override {
    if (const auto fields = projection_.NeededFields()) {
      reads->paths.insert(fields->begin(), fields->end());
      return Reads::kOnly;
    }
    if (spec().Is(bson::Type::kObject)) AddProjectionReads(spec().AsDocument(), context, reads);
    return Reads::kSome;
  }

 private:
  Projection projection_;
  std::optional<std::vector<std::string>> changed_;
};

}  // namespace evenkeel::query::stage
