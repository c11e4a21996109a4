// Limits log lines by the second.
#include "wire/net/network_loop.h"

#include <absl/time/time.h>

#include <utility>

#include "base/clock.h"

namespace evenkeel::wire {

std::optional<uint64_t> LogLimiter::Admit() {
  const int64_t second = absl::ToUnixSeconds(base::WallClock::System()->Now());
  if (second != second_) {
    second_ = second;
    lines_ = 0;
  }
  if (lines_ == kLinesPerSecondMax) {
    ++dropped_;
    return std::nullopt;
  }
  ++lines_;
  return std::exchange(dropped_, 0);
}

}  // namespace evenkeel::wire
