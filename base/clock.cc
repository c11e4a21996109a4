// Implements the wall clocks and the hybrid logical clock.
#include "base/clock.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"

namespace evenkeel::base {
namespace {

class SystemWallClock final : public WallClock {
 public:
  absl::Time Now() const override { return absl::Now(); }
};

// The wall clock's second with increment 0; seconds outside 32 bits are clamped.
Timestamp SecondOf(absl::Time time) {
  const int64_t seconds = std::clamp<int64_t>(absl::ToUnixSeconds(time), 0, UINT32_MAX);
  return Timestamp::FromParts(static_cast<uint32_t>(seconds), 0);
}

}  // namespace

const WallClock* WallClock::System() {
  static const SystemWallClock* const clock = new SystemWallClock();
  return clock;
}

absl::Time FakeWallClock::Now() const {
  absl::MutexLock lock(&mutex_);
  return now_;
}

void FakeWallClock::Advance(absl::Duration by) {
  absl::MutexLock lock(&mutex_);
  now_ += by;
}

Timestamp HybridClock::Now() {
  const Timestamp wall = SecondOf(wall_->Now());
  absl::MutexLock lock(&mutex_);
  last_ = std::max(last_, wall);
  return last_;
}

Timestamp HybridClock::Tick() {
  const Timestamp wall = SecondOf(wall_->Now());
  absl::MutexLock lock(&mutex_);
  last_ = std::max(last_, wall);
  EVENKEEL_CHECK(last_ < kTimestampMax);
  ++last_.bits;
  return last_;
}

void HybridClock::Observe(Timestamp seen) {
  absl::MutexLock lock(&mutex_);
  last_ = std::max(last_, seen);
}

absl::Status HybridClock::ObserveUntrusted(Timestamp seen) {
  const Timestamp wall = SecondOf(wall_->Now());
  absl::MutexLock lock(&mutex_);
  const int64_t reference = std::max(last_, wall).seconds();
  if (int64_t{seen.seconds()} - reference > absl::ToInt64Seconds(max_drift_)) {
    return Error(ErrorCode::kPrimarySteppedDown,
                 "cluster time {}.{} is too far ahead of this process, at second {}",
                 seen.seconds(), seen.increment(), reference);
  }
  last_ = std::max(last_, seen);
  return absl::OkStatus();
}

}  // namespace evenkeel::base
