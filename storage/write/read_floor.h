// The read floor of a shard and its last issued timestamp, under one small lock.
//
// A reader at T raises the floor to T and learns which commits it must wait for; the writer's ticks
// lie above the floor. Without the common lock a commit could get a timestamp at or below one that
// was just read without it.
//
// Invariants
//   I1  A tick is above every floor set before it.
//   I2  After Raise(T) has returned W, every commit at or below T that will ever appear is at or
//   below W.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include "base/clock.h"
#include "base/types.h"

namespace evenkeel::storage {

class ReadFloor {
 public:
  // `issued`: the newest commit timestamp recovered. `clock` outlives it.
  ReadFloor(base::HybridClock* clock, Timestamp issued) : clock_(clock), issued_(issued) {}

  // Writer: a fresh commit timestamp.
  Timestamp Tick();
  // Makes reads at `timestamp` possible: moves the clock and the floor to it. Returns the commit
  // timestamp that must be durable before them: the lower of `timestamp` and the last issued one.
  Timestamp Raise(Timestamp timestamp);
  Timestamp issued() const;

 private:
  base::HybridClock* const clock_;
  mutable absl::Mutex mutex_;
  Timestamp floor_ ABSL_GUARDED_BY(mutex_);
  Timestamp issued_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::storage
