// Implements the writer's delay.
#include "storage/write/slow_down.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::storage {
namespace {

constexpr double kFreeTables = 1;
constexpr double kEvenTables = 2.5;  // here the writer is as fast as the checkpoint
constexpr double kPaceAtBegin = 4;   // times the checkpoint's pace where slowing begins
constexpr double kPaceMin = 0.25;
constexpr double kDrainAssumed = 8e6;  // bytes a second before the first measurement
constexpr absl::Duration kDelayMax = absl::Milliseconds(250);

}  // namespace

absl::Duration WriterDelay(size_t waiting_bytes, size_t table_bytes_max, size_t batch_bytes,
                           double drain_bytes_per_second) {
  const double tables = static_cast<double>(waiting_bytes) / static_cast<double>(table_bytes_max);
  if (tables <= kFreeTables) return absl::ZeroDuration();
  const double drain = drain_bytes_per_second > 0 ? drain_bytes_per_second : kDrainAssumed;
  // 4 at one table, 1 at two and a half, 1/4 at four.
  const double pace = std::max(kPaceMin, kPaceAtBegin * std::exp2(-2 * (tables - kFreeTables) /
                                                                  (kEvenTables - kFreeTables)));
  const double seconds = static_cast<double>(batch_bytes) / (drain * pace);
  return std::min(absl::Seconds(seconds), kDelayMax);
}

}  // namespace evenkeel::storage
