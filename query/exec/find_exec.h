// The operators behind find: sort, skip, limit, projection; for one process that sees all rows, and
// in two halves.
//
// The filter is not here: whoever scans applies it. The two halves are the shards', whose rows
// carry their sort key where there is a sort, and the router's, which merges them.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "query/exec/operator.h"
#include "query/exec/row_meta.h"
#include "query/match/filter.h"
#include "query/plan/sort_pattern.h"
#include "query/project/projection.h"
#include "query/request/find_request.h"

namespace evenkeel::query {

// The compiled form; outlives the operators made from it. One thread at a time.
class FindPipeline {
 public:
  // `context` outlives this; of `request` nothing is kept. What the projection reads of metadata
  // (query/expr/meta.h), rows have by then. With returnKey there is no projection;
  // with showRecordId one keeps the field kRecordIdField of its input. Errors: those of the sort
  // and the projection.
  static absl::StatusOr<std::unique_ptr<FindPipeline>> Parse(const FindRequest& request,
                                                             const QueryContext& context);

  // Everything. `sorted`: the input comes in the wanted order already. `filter` is for the
  // positional operator; may be null.
  std::unique_ptr<Operator> Whole(std::unique_ptr<Operator> input, const Filter* filter,
                                  bool sorted) const;
  // What each shard does: sorts, keeps skip + limit rows, projects. Rows carry "$sortKey" when
  // needs_merge_sort().
  std::unique_ptr<Operator> ShardPart(std::unique_ptr<Operator> input, const Filter* filter,
                                      bool sorted) const;
  // What the router does with the streams of the shards: merges, skips, limits. `inputs` outlive
  // the result.
  std::unique_ptr<Operator> MergePart(std::vector<Operator*> inputs) const;

  bool needs_merge_sort() const { return !sort_.empty(); }
  const SortPattern& sort() const { return sort_; }
  // How many rows of one shard can matter; nothing without a limit.
  std::optional<int64_t> limit_per_shard() const;

 private:
  explicit FindPipeline(const QueryContext& context) : context_(context) {}
  std::unique_ptr<Operator> Project(std::unique_ptr<Operator> input, const Filter* filter,
                                    bool keep_sort_key) const;
  std::unique_ptr<Operator> ProjectFields(std::unique_ptr<Operator> input, const Filter* filter,
                                          bool keep_sort_key) const;

  const QueryContext& context_;
  SortPattern sort_;
  std::optional<Projection> projection_;
  bool show_record_id_ = false;
  RowMetaOperator::Wanted row_meta_;
  bool sort_meta_ = false;
  int64_t skip_ = 0;
  std::optional<int64_t> limit_;
};

}  // namespace evenkeel::query
