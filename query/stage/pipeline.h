// A parsed pipeline, and its split into the part that every shard does and the part that merges.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "query/context.h"
#include "query/exec/operator.h"
#include "query/match/filter.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

struct StageTrace;  // query/exec/measured.h
struct Colocation;  // query/stage/colocation.h
class Stage;        // query/stage/stage.h: one parsed stage, with the facts of its table row

// How the merging part takes the shards' streams.
enum class MergeKind : uint8_t { kAny, kSorted };

struct SplitPipeline {
  bson::Document
      shard_part;  // array of stages as BSON, to be parsed by the shards; their context is internal
  bson::Document merge_part;  // array of stages for the merger; its parse context is internal and
                              // has is_merge_part
  MergeKind merge_kind = MergeKind::kAny;
  // For kSorted: shard rows carry their sort key as the last field "$sortKey": [...], removed by
  // SortedMerge.
  SortPattern merge_sort;
  // Fewer shards may do: rows that one shard need return at most.
  std::optional<int64_t> limit_per_shard;

  // Of a pipeline that is row by row: lets the rows come in the order of `_id`.
  absl::Status SortById();
};

class Pipeline {
 public:
  // `stages` is the command's array; `context` outlives the pipeline. Internal stages ("$_…") are
  // unknown unless the context is internal. Errors: 40324 for an unknown stage, 40323 for a stage
  // that is no object of one field, 40602 and 40601 for one in the wrong place, CommandNotSupported
  // for a known stage without support, per stage its own.
  static absl::StatusOr<Pipeline> Parse(bson::View stages, const QueryContext& context);
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  ~Pipeline();

  const std::vector<std::unique_ptr<Stage>>& stages() const;
  // A leading $match's filter document, for targeting and planning; {} if none. Optimize moves
  // matches to the front where that is legal. Lives as long as the pipeline is not changed.
  bson::View LeadingMatch() const;
  // The same compiled; null if none.
  const Filter* LeadingFilter() const;
  // The first stage makes its own documents ($documents) or names what the driver makes
  // ($collStats, $currentOp …): no collection is scanned by the pipeline's driver.
  bool HasOwnSource() const;
  // Empty for an empty pipeline.
  std::string_view FirstStageName() const;
  // The options of the first stage, missing for an empty pipeline.
  bson::Value FirstStageSpec() const;
  // Some stage writes ($out, $merge).
  bool Writes() const;
  // Some stage runs on the router only: one shard alone cannot do it all.
  bool NeedsRouter() const;
  // The shards do it all, each row by itself.
  bool IsRowByRow() const;
  // The name of the first stage that is not allowed in a transaction, empty if all are.
  std::string_view StageNotAllowedInTransaction() const;

  // Rewrites where the result stays the same: query/stage/rewrite/rules.h.
  void Optimize();
  // The other collections that stages read which need the router for it; each once.
  std::vector<std::string> ForeignNamespaces() const;
  // Lets stages run on the shards that read only what lies there. Returns the collections that the
  // shards then read.
  std::vector<std::string> JoinOnShards(const Colocation& colocation);
  SplitPipeline Split() const;
  // The operators over `input`, last one returned. This and `context` outlive the result. With
  // `without_leading_match` the input has been filtered by LeadingMatch() already. $documents takes
  // no notice of the input. With `trace` operators are measured.
  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context,
                                                  bool without_leading_match = false,
                                                  StageTrace* trace = nullptr) const;
  bson::Document ToBson() const;  // the array, normalised, for explain

 private:
  explicit Pipeline(const QueryContext& context);
  const QueryContext* context_;
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace evenkeel::query
