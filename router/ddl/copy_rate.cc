// The bucket's arithmetic.
#include "router/ddl/copy_rate.h"

#include <algorithm>

namespace evenkeel::router::ddl {

int64_t CopyRate::bytes_per_second() const {
  absl::MutexLock lock(&mutex_);
  return bytes_per_second_;
}

void CopyRate::Set(int64_t bytes_per_second) {
  absl::MutexLock lock(&mutex_);
  Fill();
  bytes_per_second_ = bytes_per_second;
}

void CopyRate::Fill() {
  const absl::Time now = wall_->Now();
  const double seconds = std::max(absl::ToDoubleSeconds(now - filled_), 0.0);
  const auto rate = static_cast<double>(bytes_per_second_);
  filled_ = now;
  bytes_ = std::min(bytes_ + rate * seconds, rate * absl::ToDoubleSeconds(kSavedMax));
}

void CopyRate::GiveWay(absl::Duration took) {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = wall_->Now();
  paused_until_ = std::min(std::max(paused_until_, now) + kGivesWay * took, now + kPauseMax);
}

absl::Duration CopyRate::TryTake(int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  Fill();
  if (const absl::Duration pause = paused_until_ - wall_->Now(); pause > absl::ZeroDuration()) {
    return pause;
  }
  if (bytes_per_second_ == 0) {
    bytes_ = 0;  // a limit that is set later begins anew
    return absl::ZeroDuration();
  }
  if (bytes_ < 0) return absl::Seconds(-bytes_ / static_cast<double>(bytes_per_second_));
  bytes_ -= static_cast<double>(bytes);
  return absl::ZeroDuration();
}

}  // namespace evenkeel::router::ddl
