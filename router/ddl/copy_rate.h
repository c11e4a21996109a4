// How fast this router copies documents: so many bytes per second in all its moves together.
//
// A token bucket that may be overdrawn by one batch: whoever comes then waits until it is even
// again. Where clients are served meanwhile copies give way: for each batch all of them pause for
// three times as long as it took. Any thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <cstdint>

#include "base/clock.h"

namespace evenkeel::router::ddl {

class CopyRate {
 public:
  // What may be saved up while nobody copies.
  static constexpr absl::Duration kSavedMax = absl::Milliseconds(250);

  // Pause by batch, in times of what it took; and at most.
  static constexpr int kGivesWay = 4;
  static constexpr absl::Duration kPauseMax = absl::Seconds(5);

  // 0 bytes per second: no limit.
  CopyRate(const base::WallClock* wall, int64_t bytes_per_second)
      : wall_(wall), bytes_per_second_(bytes_per_second), filled_(wall->Now()) {}

  int64_t bytes_per_second() const;
  // Takes effect at once, for those who wait too.
  void Set(int64_t bytes_per_second);
  // Takes the bytes and returns zero, or takes nothing and returns how long to wait before the next
  // try.
  absl::Duration TryTake(int64_t bytes);
  // To be called behind a batch that took so long beside the work of clients.
  void GiveWay(absl::Duration took);

 private:
  void Fill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const base::WallClock* const wall_;
  mutable absl::Mutex mutex_;
  int64_t bytes_per_second_ ABSL_GUARDED_BY(mutex_);
  double bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // below zero: overdrawn
  absl::Time filled_ ABSL_GUARDED_BY(mutex_);
  absl::Time paused_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace evenkeel::router::ddl
