// Feeds the shards' rows to the operators and the operators' rows to the client.
#include "router/cursor/merge_cursor.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/async/wait.h"
#include "base/status.h"
#include "query/exec/sorted_merge.h"
#include "router/retry.h"
#include "router/router.h"

namespace evenkeel::router {
namespace {

// Bytes of batches that no client has asked for yet, all cursors of the router together.
constexpr int64_t kPrefetchedBytesMax = 64 << 20;
constexpr absl::Duration kPrefetchTimeMax = absl::Minutes(1);

}  // namespace

// Next batches of some streams. Lives as long as its task and the cursor need it.
struct MergeCursor::Prefetch {
  explicit Prefetch(std::atomic<int64_t>& all_bytes) : total(all_bytes) {}
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  ~Prefetch() {
    if (reserved) total.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }
  // False when all cursors together hold too much.
  bool Reserve() {
    const auto wanted = static_cast<int64_t>(bytes);
    reserved = true;
    return total.fetch_add(wanted, std::memory_order_relaxed) + wanted <= kPrefetchedBytesMax;
  }

  std::atomic<int64_t>& total;
  size_t bytes = 0;
  bool reserved = false;
  std::vector<size_t> streams;
  std::vector<ShardCall> calls;
  std::vector<absl::StatusOr<wire::Message>> replies;
  base::Event done;
};

absl::StatusOr<std::unique_ptr<MergeCursor>> MergeCursor::Make(RouterState& router,
                                                               MergeOptions options,
                                                               std::vector<ShardStream> streams) {
  std::unique_ptr<MergeCursor> cursor(new MergeCursor(router));
  cursor->skip_left_ = options.skip;
  cursor->limit_left_ = options.limit;
  cursor->options_ = std::move(options);
  EVENKEEL_RETURN_IF_ERROR(cursor->Build(std::move(streams)));
  return cursor;
}

absl::Status MergeCursor::Build(std::vector<ShardStream> streams) {
  std::vector<query::Operator*> inputs;
  for (ShardStream& from : streams) {
    Stream stream;
    stream.cursor = std::move(from.cursor);
    stream.input = std::make_unique<query::InputQueue>();
    EVENKEEL_RETURN_IF_ERROR(Accept(stream, std::move(from.reply)));
    inputs.push_back(stream.input.get());
    streams_.push_back(std::move(stream));
  }
  if (options_.sort) {
    top_ = std::make_unique<query::SortedMerge>(std::move(inputs), *options_.sort,
                                                options_.context->collation);
  } else {
    top_ = std::make_unique<query::UnorderedMerge>(std::move(inputs));
  }
  if (options_.pipeline) {
    EVENKEEL_ASSIGN_OR_RETURN(top_, options_.pipeline->Build(std::move(top_), *options_.context));
  }
  return absl::OkStatus();
}

absl::Status MergeCursor::Accept(Stream& stream, wire::Message reply) {
  EVENKEEL_ASSIGN_OR_RETURN(const CursorView cursor, ReadCursor(reply.body));
  for (const auto& [key, value] : cursor.batch) {
    if (!value.Is(bson::Type::kObject)) {
      return MakeError(ErrorCode::kInternalError, "a shard's batch holds more than documents");
    }
    stream.input->Push(query::Row::Borrow(value.AsDocument()));
  }
  stream.cursor.id = cursor.id;
  if (cursor.id == 0) stream.input->Finish();
  if (cursor.batch.empty()) return absl::OkStatus();
  stream.reply_before = std::exchange(stream.last_reply, std::move(reply));
  return absl::OkStatus();
}

Awaitable<absl::StatusOr<query::Step>> MergeCursor::Pull() {
  if (!options_.pipeline) co_return top_->Pull(&pending_);
  // Stages may have much to do: not on the network's thread.
  const auto network = co_await boost::asio::this_coro::executor;
  co_await base::SwitchTo(router_.pool);
  auto step = top_->Pull(&pending_);
  co_await base::SwitchTo(network);
  co_return step;
}

Awaitable<absl::Status> MergeCursor::Refill(const BatchRequest& request, CallScope scope) {
  pending_.clear();
  at_ = 0;
  while (pending_.empty() && !ended_) {
    if (scope.cancelled.IsCancelled()) {
      co_return MakeError(ErrorCode::kInterrupted, "operation was interrupted");
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Step step, co_await Pull());
    if (step == query::Step::kEnd) ended_ = true;
    if (step != query::Step::kNeedInput) continue;
    if (options_.foreign) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(const bool served, co_await options_.foreign->Serve(scope));
      if (served) continue;
    }
    // A merging stage needs all of its input, however little the client asks for.
    const auto rows = options_.pipeline ? std::nullopt : request.rows;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Fetch(rows, scope));
  }
  co_return absl::OkStatus();
}

std::vector<size_t> MergeCursor::Drained() const {
  std::vector<size_t> drained;
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i].cursor.id != 0 && streams_[i].input->empty()) drained.push_back(i);
  }
  return drained;
}

std::vector<ShardCall> MergeCursor::CallsFor(const std::vector<size_t>& streams,
                                             std::optional<int64_t> rows) const {
  std::vector<ShardCall> calls;
  for (const size_t i : streams) calls.push_back(GetMoreCall(streams_[i].cursor, rows));
  return calls;
}

absl::Status MergeCursor::AcceptAll(const std::vector<size_t>& streams,
                                    std::vector<absl::StatusOr<wire::Message>> replies) {
  absl::Status failure;
  for (size_t i = 0; i < replies.size(); ++i) {
    Stream& stream = streams_[streams[i]];
    absl::Status status = EndOfCursor(replies[i].status());
    // A shard that failed has dropped its cursor.
    if (!status.ok()) stream.cursor.id = 0;
    if (status.ok()) status = Accept(stream, *std::move(replies[i]));
    if (failure.ok()) failure = std::move(status);
  }
  return failure;
}

Awaitable<absl::Status> MergeCursor::Fetch(std::optional<int64_t> rows, CallScope scope) {
  if (prefetch_) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await prefetch_->done.Wait(scope.deadline, scope.cancelled));
    const std::shared_ptr<Prefetch> fetched = std::exchange(prefetch_, nullptr);
    co_return AcceptAll(fetched->streams, std::move(fetched->replies));
  }
  const std::vector<size_t> drained = Drained();
  if (drained.empty()) {
    co_return MakeError(ErrorCode::kInternalError, "a merge waits for input that has ended");
  }
  auto replies = co_await router_.cluster->SendAll(CallsFor(drained, rows), std::move(scope));
  co_return AcceptAll(drained, std::move(replies));
}

void MergeCursor::BeginPrefetch(std::optional<int64_t> rows) {
  if (prefetch_ || exhausted() || !router_.background) return;
  auto prefetch = std::make_shared<Prefetch>(router_.prefetched_bytes);
  prefetch->streams = Drained();
  if (prefetch->streams.empty()) return;
  prefetch->calls = CallsFor(prefetch->streams, rows);
  // The next batches will be about as large as the last ones.
  for (const size_t i : prefetch->streams) {
    if (streams_[i].last_reply.owner) prefetch->bytes += streams_[i].last_reply.body.SizeBytes();
  }
  if (!prefetch->Reserve()) return;
  const bool begun = router_.background->SpawnOn(
      router_.executor, [&router = router_, prefetch](base::CancellationToken cancelled) {
        return RunPrefetch(router, prefetch, std::move(cancelled));
      });
  if (begun) prefetch_ = std::move(prefetch);
}

Awaitable<void> MergeCursor::RunPrefetch(RouterState& router, std::shared_ptr<Prefetch> prefetch,
                                         base::CancellationToken cancelled) {
  CallScope scope{absl::Now() + kPrefetchTimeMax, std::move(cancelled)};
  prefetch->replies =
      co_await router.cluster->SendAll(std::move(prefetch->calls), std::move(scope));
  prefetch->done.Set();
}

bool MergeCursor::Take(BatchBuilder& batch) {
  while (HasPending() && !batch.full()) {
    if (skip_left_ > 0) {
      --skip_left_;
    } else if (limit_left_ && *limit_left_ == 0) {
      break;
    } else if (batch.Add(pending_[at_].view)) {
      if (limit_left_) --*limit_left_;
    } else {
      return true;
    }
    ++at_;
  }
  // Nothing more is needed, whatever the shards still have.
  if (limit_left_ && *limit_left_ == 0) {
    ended_ = true;
    pending_.clear();
    at_ = 0;
  }
  return batch.full() || (ended_ && !HasPending());
}

absl::Status MergeCursor::LookAhead() {
  if (HasPending() || ended_) return absl::OkStatus();
  // Saves the client a getMore that would find nothing. With a pipeline the work may be large: left
  // to the next call.
  if (options_.pipeline) return absl::OkStatus();
  pending_.clear();
  at_ = 0;
  EVENKEEL_ASSIGN_OR_RETURN(const query::Step step, top_->Pull(&pending_));
  ended_ = step == query::Step::kEnd;
  return absl::OkStatus();
}

Awaitable<absl::StatusOr<bson::Document>> MergeCursor::Next(BatchRequest request, CallScope scope) {
  BatchBuilder batch(request);
  while (!Take(batch)) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Refill(request, scope));
  }
  // batchSize 0 only opens the cursor.
  const bool only_opens = request.rows && *request.rows == 0;
  if (!only_opens) EVENKEEL_CO_RETURN_IF_ERROR(LookAhead());
  for (size_t i = at_; i < pending_.size(); ++i) pending_[i].MakeOwned();
  if (exhausted()) {
    co_await Close();
  } else if (request.id.value != 0 && !only_opens && !options_.pipeline) {
    if (!scope.transaction) BeginPrefetch(request.rows);
  }
  co_return batch.Finish(exhausted(), options_.ns);
}

bool MergeCursor::exhausted() const { return ended_ && !HasPending(); }

Awaitable<void> MergeCursor::Close() {
  ended_ = true;
  pending_.clear();
  at_ = 0;
  if (prefetch_) {
    // A cursor that is being read cannot be ended; what comes back may have ended by itself.
    const absl::Status waited = co_await prefetch_->done.Wait(absl::Now() + kPrefetchTimeMax);
    const std::shared_ptr<Prefetch> fetched = std::exchange(prefetch_, nullptr);
    if (waited.ok()) (void)AcceptAll(fetched->streams, std::move(fetched->replies));
  }
  if (options_.foreign) co_await options_.foreign->Close();
  std::vector<ShardCursor> open;
  for (Stream& stream : streams_) {
    if (stream.cursor.id != 0) open.push_back(stream.cursor);
    stream.cursor.id = 0;
  }
  co_await KillShardCursors(*router_.cluster, std::move(open));
}

}  // namespace evenkeel::router
