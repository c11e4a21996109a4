// Feeds the shards' rows to the operators and the operators' rows to the client.
#include "router/cursor/merge_cursor.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/async/wait.h"
#include "base/status.h"
#include "query/exec/sorted_merge.h"
#include "router/retry.h"
#include "router/router.h"

namespace evenkeel::router {

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
    // A merging stage needs all of its input, however little the client asks for.
    const auto rows = options_.pipeline ? std::nullopt : request.rows;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Fetch(rows, scope));
  }
  co_return absl::OkStatus();
}

Awaitable<absl::Status> MergeCursor::Fetch(std::optional<int64_t> rows, CallScope scope) {
  std::vector<ShardCall> calls;
  std::vector<Stream*> asked;
  for (Stream& stream : streams_) {
    if (stream.cursor.id == 0 || !stream.input->empty()) continue;
    calls.push_back(GetMoreCall(stream.cursor, rows));
    asked.push_back(&stream);
  }
  if (asked.empty()) {
    co_return MakeError(ErrorCode::kInternalError, "a merge waits for input that has ended");
  }
  auto replies = co_await router_.cluster->SendAll(std::move(calls), std::move(scope));
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].ok()) {
      // The shard has dropped its cursor.
      asked[i]->cursor.id = 0;
      co_return EndOfCursor(replies[i].status());
    }
    EVENKEEL_CO_RETURN_IF_ERROR(Accept(*asked[i], *std::move(replies[i])));
  }
  co_return absl::OkStatus();
}

bool MergeCursor::Take(BatchBuilder& batch) {
  while (HasPending() && !batch.full()) {
    if (skip_left_ > 0) {
      --skip_left_;
      ++at_;
      continue;
    }
    if (limit_left_ && *limit_left_ == 0) {
      ended_ = true;
      pending_.clear();
      return true;
    }
    if (!batch.Add(pending_[at_].view)) return true;
    ++at_;
    if (limit_left_) --*limit_left_;
  }
  return batch.full();
}

absl::Status MergeCursor::LookAhead() {
  if (HasPending() || ended_) return absl::OkStatus();
  if (limit_left_ && *limit_left_ == 0) {
    ended_ = true;
    return absl::OkStatus();
  }
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
    if (ended_) break;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Refill(request, scope));
  }
  // batchSize 0 only opens the cursor.
  if (!(request.rows && *request.rows == 0)) EVENKEEL_CO_RETURN_IF_ERROR(LookAhead());
  for (size_t i = at_; i < pending_.size(); ++i) pending_[i].MakeOwned();
  if (exhausted()) co_await Close();
  co_return batch.Finish(exhausted(), options_.ns);
}

bool MergeCursor::exhausted() const { return ended_ && !HasPending(); }

Awaitable<void> MergeCursor::Close() {
  ended_ = true;
  pending_.clear();
  at_ = 0;
  std::vector<ShardCursor> open;
  for (Stream& stream : streams_) {
    if (stream.cursor.id != 0) open.push_back(stream.cursor);
    stream.cursor.id = 0;
  }
  co_await KillShardCursors(*router_.cluster, std::move(open));
}

}  // namespace evenkeel::router
