// An update given as an aggregation pipeline: stages that compute the new document from the old.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "base/bson/document.h"
#include "query/context.h"
#include "query/stage/pipeline.h"

namespace evenkeel::query::update {

class PipelineUpdate {
 public:
  // `context` outlives this. Errors: InvalidOptions (72) for stages other than $addFields, $set,
  // $project, $unset, $replaceRoot and $replaceWith; the stages' own.
  static absl::StatusOr<std::unique_ptr<PipelineUpdate>> Parse(bson::View stages,
                                                               const QueryContext& context);

  // What the stages make of the document; its _id may have gone.
  absl::StatusOr<bson::Document> Apply(bson::View document) const;

 private:
  PipelineUpdate(Pipeline pipeline, const QueryContext& context)
      : pipeline_(std::move(pipeline)), context_(context) {}

  Pipeline pipeline_;
  const QueryContext& context_;
};

}  // namespace evenkeel::query::update
