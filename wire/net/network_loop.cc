// Limits log lines by the second.
#include "wire/net/network_loop.h"

#include <absl/time/time.h>

#include <utility>

#include "base/clock.h"

namespace evenkeel::wire {

std::optional<uint64_t> LogLimiter::Admit() {
  return AdmitAt(absl::ToUnixSeconds(base::WallClock::System()->Now()));
}

std::optional<uint64_t> LogLimiter::AdmitAt(int64_t second) {
  if (second != second_) {
    second_ = second;
    lines_ = 0;
  }
  if (lines_ == lines_per_second_max_) {
    ++dropped_;
    return std::nullopt;
  }
  ++lines_;
  return std::exchange(dropped_, 0);
}

}  // namespace evenkeel::wire
