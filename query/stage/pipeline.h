// A parsed pipeline, and its split into the part that every shard does and the part that merges.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "base/bson/document.h"
#include "query/context.h"
#include "query/exec/operator.h"
#include "query/match/filter.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

class Stage;  // query/stage/stage.h: one parsed stage, with the facts of its table row

// How the merging part takes the shards' streams.
enum class MergeKind : uint8_t { kAny, kSorted };

struct SplitPipeline {
  bson::Document shard_part;   // array of stages as BSON, to be parsed by the shards
  bson::Document merge_part;   // array of stages for the merger; its parse context has is_merge_part
  MergeKind merge_kind = MergeKind::kAny;
  SortPattern merge_sort;      // for kSorted: shard rows carry their sort key as {"$sortKey": [...]} metadata field, removed by the merger
  // Fewer shards may do: rows that one shard need return at most.
  std::optional<int64_t> limit_per_shard;
};

class Pipeline {
 public:
  // `stages` is the command's array. Errors: 40324 for an unknown stage, 40323 …, per stage its own.
  static absl::StatusOr<Pipeline> Parse(bson::View stages, const QueryContext& context);
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  ~Pipeline();

  const std::vector<std::unique_ptr<Stage>>& stages() const;
  // A leading $match's filter document (moved to the front where legal), for targeting and planning; {} if none.
  bson::View LeadingMatch() const;
  // The first stage makes its own documents ($documents, $collStats, $currentOp …): no collection is scanned by the pipeline's driver.
  bool HasOwnSource() const;
  std::string_view FirstStageName() const;

  // Rewrites where the result stays the same: matches forward, sort+limit joined, constants folded.
  void Optimize();
  SplitPipeline Split() const;
  // The operators over `input`, last one returned. `input` outlives the result.
  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input, const QueryContext& context) const;
  bson::Document ToBson() const;  // the array, normalised, for explain

 private:
  Pipeline();
  std::vector<std::unique_ptr<Stage>> stages_;
  bson::Document leading_match_;
};

}  // namespace evenkeel::query
