// From executed to finished: when the log has made batches durable, publishes their view, then
// tells their operations in order.
//
// The writer adds batches before it appends them to the log; the log thread reports what is
// committed. Whoever finds ready batches finishes them, one thread at a time, so the order of
// batches is kept.
//
// Invariants
//   I1  An operation is finished only after everything it has seen is durable and visible.
//   I2  Operations are finished in the order of their execution.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/types.h"
#include "storage/read/view_publisher.h"
#include "storage/store.h"

namespace evenkeel::storage {

// A batch between its execution and its end.
struct ExecutedBatch {
  struct Op {
    std::unique_ptr<WriteOp> op;
    absl::Status status;  // OK, or why the operation was not executed
  };

  LogIndex
      index;  // what must be committed first: its own entry, or the one before if it wrote nothing
  Timestamp latest;                             // the highest commit timestamp it took
  Timestamp clock_bound;                        // the bound it logged, or zero
  std::shared_ptr<const PublishedState> state;  // null: unchanged
  std::vector<Op> ops;
};

class Finisher {
 public:
  // `released` is told the pending bytes of finished operations; `published` after each
  // publication. Both any thread, short.
  Finisher(ViewPublisher* views, Timestamp clock_bound, std::function<void(size_t)> released,
           std::function<void()> published);

  // Writer thread. A batch without a log entry may be finished by this call.
  void Add(ExecutedBatch batch);
  // Log thread.
  void Committed(LogIndex last);

  // Calls `ready`, at once or after a publication, when `commit` is visible and timestamps up to
  // `bound` may be served.
  void WhenVisible(Timestamp commit, Timestamp bound, std::function<void(absl::Status)> ready);
  // No higher bound can be logged: ends the waiters that need one with `status`.
  void FailBoundWaiters(const absl::Status& status);
  // The highest timestamp that may be served: durable in the log.
  Timestamp clock_bound() const { return {clock_bound_.load(std::memory_order_acquire)}; }

  // Waits until every added batch is finished.
  void WaitUntilIdle();
  // Ends everything that waits with `status`; Add and Committed do nothing afterwards. Returns when
  // no callback is running.
  void Abandon(const absl::Status& status);

 private:
  struct Waiter {
    Timestamp commit;
    Timestamp bound;
    std::function<void(absl::Status)> ready;
  };

  void Drain();
  // The batches that can be finished now; empty when there are none or another thread is at it.
  std::vector<ExecutedBatch> TakeReady(bool first);
  void Finish(std::vector<ExecutedBatch> batches);
  void WakeWaiters();
  void EndWaiters(const std::function<bool(const Waiter&)>& which, const absl::Status& status);
  bool IsVisible(const Waiter& waiter, Timestamp latest) const {
    return waiter.commit <= latest && waiter.bound <= clock_bound();
  }

  ViewPublisher* const views_;
  const std::function<void(size_t)> released_;
  const std::function<void()> published_;
  std::atomic<uint64_t> clock_bound_;
  absl::Mutex mutex_;
  std::deque<ExecutedBatch> batches_ ABSL_GUARDED_BY(mutex_);
  LogIndex committed_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool abandoned_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::storage
