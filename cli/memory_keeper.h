// Gives freed memory back to the system.
//
// glibc keeps what is freed in the middle of its heaps: after a load that has held much, the
// process would stay large for ever. A thread of its own looks from time to time.
#pragma once

#include <absl/synchronization/notification.h>
#include <absl/time/time.h>

#include <cstddef>

#include "base/thread.h"

namespace evenkeel::cli {

class MemoryKeeper {
 public:
  explicit MemoryKeeper(absl::Duration period);
  ~MemoryKeeper();

 private:
  void Run();
  // Trims the heaps when enough has been freed since the last time.
  void Look();

  const absl::Duration period_;
  size_t free_after_trim_ = 0, resident_after_trim_ = 0;
  absl::Notification stop_;
  base::Thread thread_;  // last: it uses the others
};

}  // namespace evenkeel::cli
