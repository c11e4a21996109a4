// Checks for programmer errors, on in release builds too. Never for input from clients, peers or
// disk.
#pragma once

namespace evenkeel::base {

// Prints the place and the failed condition to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace evenkeel::base

// Ends the process when `condition` is false: going on could damage data.
#define EVENKEEL_CHECK(condition)         \
  (static_cast<bool>(condition) ? void(0) \
                                : ::evenkeel::base::CheckFailed(__FILE__, __LINE__, #condition))

// The same for checks that are too costly for release builds.
#ifdef NDEBUG
#define EVENKEEL_DCHECK(condition) void(0)
#else
#define EVENKEEL_DCHECK(condition) EVENKEEL_CHECK(condition)
#endif
