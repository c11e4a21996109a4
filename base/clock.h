// Clocks: the wall clock behind an interface, and the hybrid logical clock of a process.
//
// Any thread may use them. Tests use FakeWallClock. DESIGN: time, transactions, sessions.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include "base/types.h"

namespace evenkeel::base {

// Where the time of day and monotonic time come from.
class WallClock {
 public:
  virtual ~WallClock() = default;
  virtual absl::Time Now() const = 0;
  // The operating system's clock; lives for ever.
  static const WallClock* System();
};

// A clock that a test moves by hand.
class FakeWallClock final : public WallClock {
 public:
  explicit FakeWallClock(absl::Time start) : now_(start) {}
  absl::Time Now() const override;
  void Advance(absl::Duration by);

 private:
  mutable absl::Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_);
};

// The hybrid logical clock of one process.
//
// Invariants: (1) Tick never returns the same value twice and never one at or below a value given
// to Observe before. (2) A timestamp from outside that is more than `max_drift` ahead of the higher
// of wall clock and own clock is refused and does not move the clock.
class HybridClock {
 public:
  HybridClock(const WallClock* wall, absl::Duration max_drift)
      : wall_(wall), max_drift_(max_drift) {}

  // The newest timestamp: at least the wall clock's second. Does not move the clock past it.
  Timestamp Now();
  // A fresh timestamp above every earlier one.
  Timestamp Tick();
  // Moves the clock to at least `seen`, trusted (from a log, an own shard).
  void Observe(Timestamp seen);
  // The same for a timestamp from a client or peer. Errors: 189 when it is too far ahead.
  absl::Status ObserveUntrusted(Timestamp seen);

 private:
  const WallClock* wall_;
  const absl::Duration max_drift_;
  absl::Mutex mutex_;
  Timestamp last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::base
