// Implements the failing side of EVENKEEL_CHECK.
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace evenkeel::base {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace evenkeel::base
