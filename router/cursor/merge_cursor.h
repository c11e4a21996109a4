// The cursor over several shards: fetches their batches at once, merges them by sort key or in any
// order, runs the merging part of a pipeline, and counts off skip and limit.
//
// Rows stay views into the shards' replies until they are copied into the client's batch. A shard
// is asked for its next batch when its last one has been used up, all such shards at once; while
// the client works on a batch, the next ones are already asked for (prefetch), within a bound for
// all cursors of the router.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/exec/operator.h"
#include "query/plan/sort_pattern.h"
#include "query/stage/pipeline.h"
#include "router/cursor/client_cursor.h"
#include "router/cursor/foreign_server.h"
#include "router/cursor/shard_cursor.h"

namespace evenkeel::router {

// One shard's first answer.
struct ShardStream {
  ShardCursor cursor;
  wire::Message reply;  // with {cursor: {firstBatch, …}}
};

struct MergeOptions {
  std::string ns;  // shown in replies
  std::unique_ptr<query::QueryContext> context;
  std::optional<query::SortPattern> sort;   // rows carry "$sortKey"
  std::optional<query::Pipeline> pipeline;  // the merging part
  std::unique_ptr<ForeignServer> foreign;   // for the pipeline's stages; null if none read
  int64_t skip = 0;
  std::optional<int64_t> limit;
};

class MergeCursor final : public ClientCursor {
 public:
  // Errors: InternalError for malformed replies, and those of building the pipeline; the shards'
  // cursors are then the caller's to end.
  static absl::StatusOr<std::unique_ptr<MergeCursor>> Make(RouterState& router,
                                                           MergeOptions options,
                                                           std::vector<ShardStream> streams);

  Awaitable<absl::StatusOr<bson::Document>> Next(BatchRequest request, CallScope scope) override;
  bool exhausted() const override;
  Awaitable<void> Close() override;

 private:
  struct Stream {
    ShardCursor cursor;
    std::unique_ptr<query::InputQueue> input;
    // What rows point into: those in the queue into the last reply, those that the merge has taken
    // out into the one before, too.
    wire::Message last_reply, reply_before;
  };

  explicit MergeCursor(RouterState& router) : router_(router) {}
  absl::Status Build(std::vector<ShardStream> streams);
  static absl::Status Accept(Stream& stream, wire::Message reply);
  struct Prefetch;
  // The streams whose next batch is needed.
  std::vector<size_t> Drained() const;
  std::vector<ShardCall> CallsFor(const std::vector<size_t>& streams,
                                  std::optional<int64_t> rows) const;
  absl::Status AcceptAll(const std::vector<size_t>& streams,
                         std::vector<absl::StatusOr<wire::Message>> replies);
  // Asks for next batches while the client has not asked yet; does nothing past the router's bound.
  void BeginPrefetch(std::optional<int64_t> rows);
  static Awaitable<void> RunPrefetch(RouterState& router, std::shared_ptr<Prefetch> prefetch,
                                     base::CancellationToken cancelled);
  // Makes sure that a row is pending or the end was reached.
  Awaitable<absl::Status> Refill(const BatchRequest& request, CallScope scope);
  Awaitable<absl::Status> Fetch(std::optional<int64_t> rows, CallScope scope);
  Awaitable<absl::StatusOr<query::Step>> Pull();
  // Moves pending rows into the batch; true when the batch is complete.
  bool Take(BatchBuilder& batch);
  absl::Status LookAhead();
  bool HasPending() const { return at_ < pending_.size(); }

  RouterState& router_;
  MergeOptions options_;
  std::vector<Stream> streams_;
  std::unique_ptr<query::Operator> top_;  // reads the streams' inputs
  query::Batch pending_;                  // pulled, not yet given to the client
  size_t at_ = 0;                         // the next of them
  int64_t skip_left_ = 0;
  std::optional<int64_t> limit_left_;
  bool ended_ = false;
  std::shared_ptr<Prefetch> prefetch_;  // under way or not yet taken
};

}  // namespace evenkeel::router
