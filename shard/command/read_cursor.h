// One query on its way through a collection: a scan, the filter, the operators behind it, batch by
// batch.
//
// Between batches it holds keys and owned rows, never a slice. Used by one command at a time
// (CursorTable sees to it).
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "query/exec/measured.h"
#include "query/exec/operator.h"
#include "query/match/filter.h"
#include "query/plan/planner.h"
#include "query/plan/sort_pattern.h"
#include "query/stage/pipeline.h"
#include "shard/command/command.h"
#include "shard/command/key_range.h"
#include "shard/command/scan.h"
#include "shard/command/versions_in_use.h"

namespace evenkeel::shard {

class ForeignReader;  // shard/command/foreign_reads.h

// What a query needs before it runs. Views point into `command` or `stages`, which the cursor
// keeps.
struct ReadSpec {
  std::shared_ptr<const bson::Document> command;
  bson::View filter;
  bson::View sort;  // for the choice of the plan
  bson::Value hint;
  // Of an aggregation: the stages, which were parsed with this context. Else the cursor makes one.
  std::unique_ptr<query::QueryContext> query_context;
  std::shared_ptr<query::Pipeline> stages;
  // Where the stages' operators are to be noted, for explain; outlives the cursor.
  query::StageTrace* trace = nullptr;
};

// The input of a cursor's operators: rows of the present slice, which are made owned when it ends.
class SliceInput final : public query::Operator {
 public:
  void Push(bson::View row) { rows_.push_back(query::Row::Borrow(row)); }
  void Finish() { finished_ = true; }
  void EndSlice() {
    for (query::Row& row : rows_) row.MakeOwned();
  }
  absl::StatusOr<query::Step> Pull(query::Batch* out) override;

 private:
  std::deque<query::Row> rows_;
  bool finished_ = false;
};

class ReadCursor {
 public:
  // Compiles the filter and chooses the plan.
  static absl::StatusOr<std::unique_ptr<ReadCursor>> Open(const CommandContext& context,
                                                          const Collection& collection,
                                                          ReadSpec spec);
  ~ReadCursor();

  query::QueryContext& query_context() { return *spec_.query_context; }
  const query::Filter& filter() const { return *filter_; }
  const query::Plan& plan() const { return plan_; }
  // True when documents come in the order of the plan's sort.
  bool sorted() const { return sorted_; }
  const query::PlanRequest& plan_request() const { return request_; }
  const Collection& collection() const { return collection_; }
  const Scan& scan() const { return *scan_; }
  // How many documents have passed the filter, when there are operators behind it.
  int64_t found() const { return found_; }
  const bson::Document& command() const { return *spec_.command; }

  // Leaves out the first `skip` rows and ends after `limit` more. Not with operators.
  void SetWindow(int64_t skip, int64_t limit) { skip_left_ = skip, limit_left_ = limit; }
  // Lets only documents in `range` through. Before the first batch.
  void SetKeyRange(KeyRange range) { range_ = std::move(range); }
  // Puts operators behind the filter: `build` gets the input and returns the last operator, which
  // may use what `keep` holds. At most once, before the first batch.
  using BuildOperators = std::function<absl::StatusOr<std::unique_ptr<query::Operator>>(
      std::unique_ptr<query::Operator>)>;
  absl::Status SetOperators(std::shared_ptr<void> keep, const BuildOperators& build);
  // Serves the operators that read other collections.
  void SetForeignReader(std::unique_ptr<ForeignReader> reader);

  struct BatchLimits {
    std::optional<int64_t> rows;  // nothing: until bytes_max
    size_t bytes_max;
  };
  // Appends rows to the array that `builder` has open. Returns true when the query has ended.
  // Suspends: between slices; goes to the pool for long scans and comes back.
  Awaitable<absl::StatusOr<bool>> NextBatch(CommandContext& context, const BatchLimits& limits,
                                            bson::Builder* builder);
  // Runs to the end and shows every row, for count, distinct and explain.
  Awaitable<absl::Status> RunAll(CommandContext& context,
                                 const std::function<absl::Status(bson::View)>& visit);

 private:
  ReadCursor() = default;
  // Takes the rows of one slice as far as `visit` wants them. True at the query's end.
  using RowVisitor = absl::FunctionRef<bool(bson::View)>;
  absl::StatusOr<bool> RunSlice(const storage::ReadSlice& slice, RowVisitor visit);
  // The same on the state that the command reads now; sets ended_.
  absl::Status RunSlice(const CommandContext& context, RowVisitor visit);
  // What has to come before the next slice: the end of a prepared transaction that this one has
  // met, the rows of other collections that operators wait for.
  Awaitable<absl::Status> Pause(CommandContext& context);
  bool WaitsForForeign() const;
  absl::Status RunScan(const storage::ReadSlice& slice, RowVisitor visit);
  // Shows a row of a cursor without operators, within its skip and limit.
  Scan::Visit ShowRow(bson::View row, RowVisitor visit);
  absl::Status PullOperators(RowVisitor visit);
  absl::StatusOr<bool> Matches(bson::View document) const;

  Collection collection_;
  VersionsInUse::Use read_;
  ReadSpec spec_;
  std::unique_ptr<query::Filter> filter_;
  std::optional<KeyRange> range_;  // find's min and max
  query::SortPattern sort_;
  std::vector<query::IndexDescription> indexes_;
  query::PlanRequest request_;
  query::Plan plan_;
  bool sorted_ = false;
  std::unique_ptr<Scan> scan_;
  bool scan_ended_ = false;
  int64_t found_ = 0;
  int64_t skip_left_ = 0, limit_left_ = INT64_MAX;
  std::shared_ptr<void> keep_;                  // what the operators were compiled into
  SliceInput* input_ = nullptr;                 // the first of operators_
  std::unique_ptr<ForeignReader> foreign_;      // null: operators read no other collections
  std::unique_ptr<query::Operator> operators_;  // null: rows go straight through
  bool operators_ended_ = false;
  std::deque<query::Row> kept_;  // owned rows that a batch had no room for
  bool wants_more_ = true;       // what the visitor has said last, within a slice
  bool ended_ = false;
};

}  // namespace evenkeel::shard
