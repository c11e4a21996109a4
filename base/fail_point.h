// Fail points: named places where a test makes something go wrong, wait or end the process.
//
// The names are the rows of base/fail_points.inc. A point that is off costs one relaxed load. Any
// thread may pass a point; tests and the start of the process set modes. A paused point blocks its
// thread, so do not put one that tests pause on an event loop.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace evenkeel::base {

// What a fail point does when it is passed.
struct FailPointMode {
  enum class Kind {
    kOff,
    kAlways,
    kNth,          // true on pass number `nth` only, counted from 1
    kTimes,        // true on the first `nth` passes
    kSkip,         // true on every pass but the first `nth`
    kProbability,  // true with `probability`, drawn from `seed`
    kPause,        // the thread waits until the point is set to another mode; then false
    kCrash,        // the process ends with status 137 on pass number `nth`, without cleaning up
  };
  Kind kind = Kind::kOff;
  uint64_t nth = 1;
  double probability = 0;
  uint64_t seed = 0;

  static FailPointMode Off() { return {}; }
  static FailPointMode Always() { return {.kind = Kind::kAlways}; }
  static FailPointMode Nth(uint64_t n) { return {.kind = Kind::kNth, .nth = n}; }
  static FailPointMode Times(uint64_t n) { return {.kind = Kind::kTimes, .nth = n}; }
  static FailPointMode Skip(uint64_t n) { return {.kind = Kind::kSkip, .nth = n}; }
  static FailPointMode Probability(double p, uint64_t seed) {
    return {.kind = Kind::kProbability, .probability = p, .seed = seed};
  }
  static FailPointMode Pause() { return {.kind = Kind::kPause}; }
  static FailPointMode Crash(uint64_t n) { return {.kind = Kind::kCrash, .nth = n}; }

  // True when pass number `pass`, counted from 1, is a hit. Depends on nothing else, so that the
  // outcome is the same whichever thread came first.
  bool Hits(uint64_t pass) const;
};

// One named point. Passes and hits are counted while it is on.
class FailPoint {
 public:
  constexpr FailPoint(const char* name, const char* meaning) : name_(name), meaning_(meaning) {}
  FailPoint(const FailPoint&) = delete;
  FailPoint& operator=(const FailPoint&) = delete;

  // True when the caller shall do what the point's row says.
  bool Pass() { return on_.load(std::memory_order_relaxed) && PassSlow(); }

  // Sets the mode, restarts the counts and lets paused threads go on.
  void Set(FailPointMode mode);
  // Waits until the point was hit `count` times since Set (a pause counts when its thread begins to
  // wait). False: timeout.
  bool WaitForHits(uint64_t count, absl::Duration timeout);
  uint64_t hits() const;
  // Hits in all modes so far, never restarted.
  uint64_t total_hits() const;

  std::string_view name() const { return name_; }
  std::string_view meaning() const { return meaning_; }

 private:
  bool PassSlow();

  std::atomic<bool> on_{false};
  const char* name_;
  const char* meaning_;
  mutable absl::Mutex mutex_{absl::kConstInit};
  FailPointMode mode_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) =
      0;  // counts Set calls, so that a pause ends with its own
  uint64_t passes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t hits_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t hits_before_ ABSL_GUARDED_BY(mutex_) = 0;  // in earlier modes
};

namespace fail_points {
#define EVENKEEL_FAIL_POINT_ROW(name, meaning) extern FailPoint name;
#include "base/fail_points.inc"
#undef EVENKEEL_FAIL_POINT_ROW
}  // namespace fail_points

// All points, in the table's order.
std::vector<FailPoint*> AllFailPoints();
// The point with this name, or null.
FailPoint* FindFailPoint(std::string_view name);
// Switches every point off.
void ResetFailPoints();

// Sets modes from text such as
// "storage_log_before_sync=crash:3;shard_stale_config=probability:0.1:77".
//
// Modes    off, always, nth:N, times:N, skip:N, probability:P[:SEED], pause, crash[:N]. An empty
//          text changes nothing.
// Errors   FailedToParse naming the part; no mode has changed then.
absl::Status ConfigureFailPoints(std::string_view spec);

// Sets a point for the life of the object, off afterwards. For tests.
class ScopedFailPoint {
 public:
  ScopedFailPoint(FailPoint& point, FailPointMode mode) : point_(point) { point_.Set(mode); }
  ~ScopedFailPoint() { point_.Set(FailPointMode::Off()); }
  ScopedFailPoint(const ScopedFailPoint&) = delete;
  ScopedFailPoint& operator=(const ScopedFailPoint&) = delete;

 private:
  FailPoint& point_;
};

}  // namespace evenkeel::base

// True when the fail point `name`, a row of base/fail_points.inc, is hit:
//   if (EVENKEEL_FAIL_POINT(storage_log_disk_full)) return Error(ErrorCode::kOutOfDiskSpace, "fail
//   point");
#define EVENKEEL_FAIL_POINT(name) (::evenkeel::base::fail_points::name.Pass())
