// Implements the finisher.
#include "storage/write/finisher.h"

#include <algorithm>
#include <utility>

#include "base/fail_point.h"
#include "base/status.h"
#include "storage/write/write_queue.h"

namespace evenkeel::storage {

Finisher::Finisher(ViewPublisher* views, Timestamp clock_bound,
                   std::function<void(size_t)> released, std::function<void()> published)
    : views_(views),
      released_(std::move(released)),
      published_(std::move(published)),
      clock_bound_(clock_bound.bits),
      committed_(views->Current()->index) {}

void Finisher::Add(ExecutedBatch batch) {
  bool ready = false;
  {
    absl::MutexLock lock(&mutex_);
    ready = batch.index <= committed_;
    batches_.push_back(std::move(batch));
  }
  if (ready) Drain();
}

void Finisher::Committed(LogIndex last) {
  {
    absl::MutexLock lock(&mutex_);
    committed_ = std::max(committed_, last);
  }
  Drain();
}

void Finisher::Drain() {
  std::vector<ExecutedBatch> ready = TakeReady(true);
  while (!ready.empty()) {
    Finish(std::move(ready));
    ready = TakeReady(false);
  }
}

std::vector<ExecutedBatch> Finisher::TakeReady(bool first) {
  std::vector<ExecutedBatch> ready;
  absl::MutexLock lock(&mutex_);
  if (first && draining_) return ready;  // that thread looks again before it ends
  while (!abandoned_ && !batches_.empty() && batches_.front().index <= committed_) {
    ready.push_back(std::move(batches_.front()));
    batches_.pop_front();
  }
  draining_ = !ready.empty();
  return ready;
}

void Finisher::Finish(std::vector<ExecutedBatch> batches) {
  (void)EVENKEEL_FAIL_POINT(storage_writer_before_publish);
  Timestamp latest;
  Timestamp bound;
  std::shared_ptr<const PublishedState> state;
  for (ExecutedBatch& batch : batches) {
    latest = std::max(latest, batch.latest);
    bound = std::max(bound, batch.clock_bound);
    if (batch.state != nullptr) state = std::move(batch.state);
  }
  // The bound is durable with the batch that logged it; the view is the last thing to change.
  if (bound > clock_bound()) clock_bound_.store(bound.bits, std::memory_order_release);
  views_->PublishBatches(batches.back().index, latest, std::move(state));
  published_();
  const Timestamp visible = views_->Current()->latest;
  for (ExecutedBatch& batch : batches) {
    for (ExecutedBatch::Op& op : batch.ops) {
      released_(PendingBytesOf(*op.op));  // first: it may make its owner submit the next
      op.op->Finished(op.status, visible);
      op.op.reset();
    }
  }
  WakeWaiters();
}

void Finisher::WakeWaiters() {
  const Timestamp latest = views_->Current()->latest;
  EndWaiters([&](const Waiter& waiter) { return IsVisible(waiter, latest); }, absl::OkStatus());
}

void Finisher::FailBoundWaiters(const absl::Status& status) {
  EndWaiters([&](const Waiter& waiter) { return waiter.bound > clock_bound(); }, status);
}

void Finisher::EndWaiters(const std::function<bool(const Waiter&)>& which,
                          const absl::Status& status) {
  std::vector<Waiter> ended;
  {
    absl::MutexLock lock(&mutex_);
    const auto first = std::partition(waiters_.begin(), waiters_.end(), std::not_fn(which));
    std::move(first, waiters_.end(), std::back_inserter(ended));
    waiters_.erase(first, waiters_.end());
  }
  for (Waiter& waiter : ended) waiter.ready(status);
}

void Finisher::WhenVisible(Timestamp commit, Timestamp bound,
                           std::function<void(absl::Status)> ready) {
  Waiter waiter{commit, bound, std::move(ready)};
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    if (abandoned_) {
      status = Error(ErrorCode::kShutdownInProgress, "the shard is closing");
    } else if (!IsVisible(waiter, views_->Current()->latest)) {
      waiters_.push_back(std::move(waiter));
      return;
    }
  }
  waiter.ready(status);
}

void Finisher::WaitUntilIdle() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](Finisher* self) ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return self->abandoned_ || (self->batches_.empty() && !self->draining_);
      },
      this));
}

void Finisher::Abandon(const absl::Status& status) {
  std::deque<ExecutedBatch> batches;
  std::vector<Waiter> waiters;
  {
    absl::MutexLock lock(&mutex_);
    abandoned_ = true;
    mutex_.Await(absl::Condition(
        +[](Finisher* self) ABSL_NO_THREAD_SAFETY_ANALYSIS { return !self->draining_; }, this));
    batches.swap(batches_);
    waiters.swap(waiters_);
  }
  for (ExecutedBatch& batch : batches) {
    for (ExecutedBatch::Op& op : batch.ops) {
      released_(PendingBytesOf(*op.op));
      op.op->Finished(op.status.ok() ? status : op.status, views_->Current()->latest);
    }
  }
  for (Waiter& waiter : waiters) waiter.ready(status);
}

}  // namespace evenkeel::storage
