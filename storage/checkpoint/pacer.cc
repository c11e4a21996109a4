// Implements the pacer.
#include "storage/checkpoint/pacer.h"

#include <algorithm>

#include "base/limits.h"

namespace evenkeel::storage {
namespace {

constexpr double kShareOfInterval = 0.7;  // the rest is for bad luck
constexpr absl::Duration kTargetMax =
    absl::Seconds(20);  // of one table, however seldom tables are frozen

}  // namespace

size_t Pacer::pages_max_hurry() { return limits::kCheckpointDirtyPagesMax; }

void Pacer::Begin(absl::Time now, size_t waiting_tables) {
  previous_begin_ = begin_;
  begin_ = now;
  hurry_ = waiting_tables > 0;
  target_ = std::min((now - previous_begin_) * kShareOfInterval, kTargetMax);
}

absl::Duration Pacer::WaitAt(absl::Time now, uint64_t done, uint64_t total) const {
  if (hurry_ || total == 0) return absl::ZeroDuration();
  const double share = static_cast<double>(done) / static_cast<double>(total);
  return std::max(begin_ + target_ * share - now, absl::ZeroDuration());
}

}  // namespace evenkeel::storage
