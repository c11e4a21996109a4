// Running pipelines in tests: in one piece, and divided over shards.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "query/exec/sorted_merge.h"
#include "query/stage/pipeline.h"
#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {

using RowsOr = absl::StatusOr<std::vector<bson::Document>>;

inline RowsOr RunStages(bson::View stages, std::unique_ptr<Operator> input,
                        const QueryContext& context, bool optimize = true) {
  EVENKEEL_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::Parse(stages, context));
  if (optimize) pipeline.Optimize();
  EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<Operator> last,
                            pipeline.Build(std::move(input), context));
  return RunToEnd(*last);
}

// The pipeline's array, given as JSON.
inline bson::Document Stages(std::string_view json) {
  return bson::Document(expr::Wrap(json)["v"].AsDocument());
}

inline RowsOr RunWhole(std::string_view pipeline, const std::vector<bson::Document>& input,
                       const QueryContext& context = {}, bool optimize = true) {
  return RunStages(Stages(pipeline), Queue(input), context, optimize);
}

// Runs the shard part on each part and the merge part over all that gives.
inline RowsOr RunSplit(std::string_view json, const std::vector<std::vector<bson::Document>>& parts,
                       const QueryContext& context = {}) {
  EVENKEEL_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::Parse(Stages(json), context));
  pipeline.Optimize();
  const SplitPipeline split = pipeline.Split();
  QueryContext internal = context;
  internal.internal = true;
  std::vector<InputQueue> streams(parts.size());
  std::vector<Operator*> inputs;
  for (size_t i = 0; i < parts.size(); ++i) {
    EVENKEEL_ASSIGN_OR_RETURN(std::vector<bson::Document> rows,
                              RunStages(split.shard_part, Queue(parts[i]), internal));
    if (split.limit_per_shard) {
      EXPECT_LE(rows.size(), static_cast<size_t>(*split.limit_per_shard)) << json;
    }
    for (bson::Document& row : rows) streams[i].Push(Row::Own(std::move(row)));
    streams[i].Finish();
    inputs.push_back(&streams[i]);
  }
  std::unique_ptr<Operator> merged;
  if (split.merge_kind == MergeKind::kSorted) {
    merged = std::make_unique<SortedMerge>(inputs, split.merge_sort, context.collation);
  } else {
    merged = std::make_unique<UnorderedMerge>(inputs);
  }
  internal.is_merge_part = true;
  return RunStages(split.merge_part, std::move(merged), internal);
}

inline std::string TextOf(const RowsOr& rows) {
  if (!rows.ok()) return "error " + std::to_string(static_cast<int>(CodeOf(rows.status())));
  return Json(*rows);
}

}  // namespace evenkeel::query
