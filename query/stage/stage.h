// One parsed stage of a pipeline, and the row of facts that the planner and the router read instead
// of asking by name.
//
// A stage's file ends with its rows; table.cc joins them. Stages that are only short forms of
// others add those when parsed. Invariants
//   S1  A stage with Split::kHalves gives on the merger, over the shards' halves, what it gives
//   over the whole input. S2  The spec of a stage parses again to an equal stage. S3  A row without
//   `parse` is a known stage that is not supported.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/status.h"
#include "query/context.h"
#include "query/exec/operator.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

class Stage;
struct Colocation;     // query/stage/colocation.h
struct Dependencies;   // query/expr/expression.h
struct UnwindOptions;  // query/exec/streaming.h

namespace stage {

// Where a stage may run.
enum class Where : uint8_t { kEither, kShard, kRouter };
// What it does to the order of its input.
enum class Order : uint8_t { kKeeps, kSorts, kBreaks };
// Where its documents come from.
enum class Source : uint8_t {
  kInput,   // the stage before, or the collection
  kOwn,     // it makes them
  kDriver,  // whoever runs the pipeline makes them from the stage's options and feeds them as input
};
// How it is divided between shards and merger.
enum class Split : uint8_t {
  kEachShard,  // row by row: belongs to the shards while nothing before it has to be merged
  kMerger,     // only over everything
  kHalves,     // a half on each shard and a half on the merger
};

struct StageOp;
using StageList = std::vector<std::unique_ptr<Stage>>;
// What of its input a stage's output depends on.
enum class Reads : uint8_t {
  kAll,   // cannot be told, or everything
  kSome,  // what it reads; the rest passes through
  kOnly,  // what it reads and nothing else
};
// Appends the stages that {$name: spec} stands for.
using ParseFn = absl::Status (*)(const StageOp& op, bson::Value spec, const QueryContext& context,
                                 StageList* out);

// One row of the table of stages.
struct StageOp {
  std::string_view name;
  Where where = Where::kEither;
  Order order = Order::kKeeps;
  bool bounded_memory = true;  // holds no more than a row
  bool writes = false;
  bool allowed_in_txn = true;
  bool first_only = false;
  bool last_only = false;
  bool internal = false;  // only in pipelines that our own router makes
  bool allowed_in_facet = true;
  bool whole_database = false;  // belongs to {aggregate: 1}, not to a collection
  Source source = Source::kInput;
  Split split = Split::kEachShard;
  ParseFn parse = nullptr;
  std::string_view spec;
  std::string_view tests;
};

// Collects stages as BSON.
class StageWriter {
 public:
  // A missing spec is a mistake of the caller.
  void Add(std::string_view name, bson::Value spec);
  bool empty() const { return stages_.empty(); }
  bson::Document Finish() const;  // an array

 private:
  std::vector<bson::Document> stages_;
};

// What dividing a stage gives.
struct Halves {
  StageWriter* shard = nullptr;
  StageWriter* merge = nullptr;
  // Set when the shards' rows come sorted and carry their keys.
  std::optional<SortPattern> merge_sort;
};

}  // namespace stage

class Stage {
 public:
  // `op` is a row of the table; `spec` is copied.
  Stage(const stage::StageOp& op, bson::Value spec) : op_(op), spec_(spec) {}
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  const stage::StageOp& op() const { return op_; }
  bson::Value spec() const { return spec_.value(); }

  // The operator over `input`. This and `context` outlive it.
  virtual absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                          const QueryContext& context) const = 0;
  // Adds the stage to a pipeline in BSON.
  virtual void Write(stage::StageWriter& out) const { out.Add(op_.name, spec()); }
  // Divides a stage with Split::kHalves. `rows_wanted`: how many of its first rows what follows
  // needs at most.
  virtual void Divide([[maybe_unused]] std::optional<int64_t> rows_wanted,
                      [[maybe_unused]] stage::Halves* halves) const {}

  // True when it has to run on the router: it reads other collections.
  virtual bool NeedsRouter() const { return op_.where == stage::Where::kRouter; }
  // The collection that it reads beside its input ("db.name"), empty for none.
  virtual std::string_view ForeignNamespace() const { return {}; }
  // True when every shard can read by itself what the stage needs of the other collection. From
  // then on the stage does not need the router.
  virtual bool JoinOnShards([[maybe_unused]] const Colocation& colocation) { return false; }
  // Tells the stage that no more than its first `count` rows are needed.
  virtual void LimitTo([[maybe_unused]] int64_t count) {}
  // Adds the paths that the stage reads to `reads`, and says what of its input matters.
  virtual stage::Reads AddReads([[maybe_unused]] const QueryContext& context,
                                [[maybe_unused]] Dependencies* reads) const {
    return stage::Reads::kAll;
  }
  // The order of a $sort of which every row is wanted, null for others.
  virtual const SortPattern* SortOrder() const { return nullptr; }
  // What an $unwind does, null for others.
  virtual const UnwindOptions* Unwinds() const { return nullptr; }
  // True when the stage has taken over the $unwind behind it.
  virtual bool TakeUnwind([[maybe_unused]] const Stage& unwind) { return false; }
  // How many rows it passes over, for $skip.
  virtual std::optional<int64_t> SkipCount() const { return std::nullopt; }
  // How many rows it lets through, for $limit.
  virtual std::optional<int64_t> LimitCount() const { return std::nullopt; }
  // The filter of a $match, null for others.
  virtual const class Filter* MatchFilter() const { return nullptr; }
  // True when a $match on these dotted paths may run before this stage with the same result.
  virtual bool MatchMayPass([[maybe_unused]] const std::vector<std::string>& paths) const {
    return false;
  }

 private:
  const stage::StageOp& op_;
  bson::OwnedValue spec_;
};

namespace stage {

// Adds a stage of class `T`, made from the row, the spec and `args`.
template <typename T, typename... Args>
absl::Status AddStage(StageList* out, Args&&... args) {
  out->push_back(std::make_unique<T>(std::forward<Args>(args)...));
  return absl::OkStatus();
}

// True when one of the dotted paths starts with the same field as `other`. Compares no further:
// "a.0.b" and "a.b" may mean the same value.
bool AnyOverlap(const std::vector<std::string>& paths, std::string_view other);

}  // namespace stage
}  // namespace evenkeel::query
