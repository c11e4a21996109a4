// Implements the read floor.
#include "storage/write/read_floor.h"

#include <algorithm>

#include "base/check.h"

namespace evenkeel::storage {

Timestamp ReadFloor::Tick() {
  absl::MutexLock lock(&mutex_);
  issued_ = clock_->Tick();
  EVENKEEL_CHECK(issued_ > floor_);
  return issued_;
}

Timestamp ReadFloor::Raise(Timestamp timestamp) {
  clock_->Observe(timestamp);
  absl::MutexLock lock(&mutex_);
  floor_ = std::max(floor_, timestamp);
  return std::min(timestamp, issued_);
}

Timestamp ReadFloor::issued() const {
  absl::MutexLock lock(&mutex_);
  return issued_;
}

}  // namespace evenkeel::storage
