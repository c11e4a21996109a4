// The operations that wait for the writer, bounded by bytes, and what else the writer is asked to
// do.
//
// Any thread submits and asks; the writer thread takes batches.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "base/types.h"
#include "storage/store.h"

namespace evenkeel::storage {

class WriteQueue {
 public:
  // What the writer does next.
  struct Work {
    std::vector<std::unique_ptr<WriteOp>> ops;
    size_t bytes = 0;  // sum of their sizes
    uint64_t freeze =
        0;  // freeze the table after this batch; the number of the newest request, 0 for none
    Timestamp clock_bound;  // log a bound at or above it
  };

  explicit WriteQueue(size_t pending_bytes_max) : pending_bytes_max_(pending_bytes_max) {}

  // Errors: ExceededTimeLimit when too many bytes are pending; ShutdownInProgress.
  absl::Status Submit(std::unique_ptr<WriteOp> op);
  // Asks for a freeze after the next batch, which may be empty. Returns the request's number.
  uint64_t RequestFreeze();
  void RequestClockBound(Timestamp bound);

  // Waits for work; up to `bytes_max` of operations but at least one if there is one. False when
  // closed and empty.
  bool Take(size_t bytes_max, Work* work);
  // True when Take would wait.
  bool IsEmpty();
  // Writer: waits, but not once the queue is closed.
  void WaitUntilClosed(absl::Duration timeout);
  // Operations are finished: their bytes are no longer pending. Any thread.
  void Release(size_t bytes) { pending_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  size_t pending_bytes() const { return pending_bytes_.load(std::memory_order_relaxed); }

  // Refuses new operations; what is queued is still taken.
  void Close();
  // Refuses new operations and gives back the queued ones, which the writer will not see.
  std::vector<std::unique_ptr<WriteOp>> Abort();

 private:
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !ops_.empty() || freeze_requests_ > freeze_taken_ || clock_bound_ > Timestamp{};
  }

  const size_t pending_bytes_max_;
  std::atomic<size_t> pending_bytes_{0};  // queued, executing, or waiting for the log
  absl::Mutex mutex_;
  absl::CondVar work_;
  std::deque<std::unique_ptr<WriteOp>> ops_ ABSL_GUARDED_BY(mutex_);
  uint64_t freeze_requests_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t freeze_taken_ ABSL_GUARDED_BY(mutex_) = 0;
  Timestamp clock_bound_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// What an operation counts for in the bound: its size and a constant for its bookkeeping.
size_t PendingBytesOf(const WriteOp& op);

}  // namespace evenkeel::storage
