// How long running work may go on after a signal.
#pragma once

#include <absl/time/time.h>

namespace evenkeel::cli {

inline constexpr absl::Duration kStopTime = absl::Seconds(10);

}  // namespace evenkeel::cli
