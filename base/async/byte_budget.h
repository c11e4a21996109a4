// A budget of bytes that many tasks share: who needs bytes waits until they fit, first come, first
// served.
//
// Any thread. Bounds memory where waiting is better than failing: messages being received, writes
// under way.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "base/async/cancellation.h"

namespace evenkeel::base {

class Event;

// Invariant: waiters are served in order, so a large request is not starved by small ones.
class ByteBudget {
 public:
  explicit ByteBudget(size_t bytes_max)
      : bytes_max_(bytes_max), free_(static_cast<int64_t>(bytes_max)) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  // Bytes held until destroyed or given back.
  class Grant {
   public:
    Grant() = default;
    Grant(ByteBudget* budget, size_t bytes) : budget_(budget), bytes_(bytes) {}
    Grant(Grant&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Grant& operator=(Grant&& other) noexcept;
    ~Grant() { Reset(); }
    void Reset();
    size_t bytes() const { return bytes_; }

   private:
    ByteBudget* budget_ = nullptr;
    size_t bytes_ = 0;
  };

  // Waits until `bytes` fit; more than the whole budget is granted alone, when nothing else is
  // held.
  //
  // Errors   MaxTimeMSExpired at the deadline, Interrupted when cancelled.
  boost::asio::awaitable<absl::StatusOr<Grant>> Acquire(
      size_t bytes, absl::Time deadline = absl::InfiniteFuture(), CancellationToken cancelled = {});
  // Takes the bytes at once or not at all; an empty grant when they do not fit or others wait.
  Grant TryAcquire(size_t bytes);
  // Takes the bytes even where they do not fit: for what exists already. Later requests wait the
  // longer.
  Grant Force(size_t bytes);

  // True while more is held than the budget has, by what was forced. Costs one relaxed load.
  bool IsOverdrawn() const { return overdrawn_.load(std::memory_order_relaxed); }
  // Bytes held now; may exceed the budget by what was forced.
  size_t HeldBytes() const;
  size_t bytes_max() const { return bytes_max_; }

 private:
  struct Waiter;
  void Release(size_t bytes);
  void ChangeLocked(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ServeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FitsLocked(size_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t bytes_max_;
  mutable absl::Mutex mutex_;
  int64_t free_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> overdrawn_{false};  // written under the mutex
  std::deque<std::shared_ptr<Waiter>> waiters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::base
