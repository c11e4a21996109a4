// Watches the heaps of glibc.
#include "cli/memory_keeper.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace evenkeel::cli {
namespace {

// Less is not worth a walk through the heaps, during which their users wait.
constexpr size_t kWorthwhileBytes = 64u << 20;

size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total_pages = 0, resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

MemoryKeeper::MemoryKeeper(absl::Duration period)
    : period_(period), thread_("memory", [this] { Run(); }) {}

MemoryKeeper::~MemoryKeeper() {
  stop_.Notify();
  thread_.Join();
}

void MemoryKeeper::Run() {
  while (!stop_.WaitForNotificationWithTimeout(period_)) Look();
}

void MemoryKeeper::Look() {
  const size_t free = mallinfo2().fordblks, resident = ResidentBytes();
  free_after_trim_ = std::min(free_after_trim_, free);
  // Free bytes count whether the system has their pages or not; what was used again and freed again
  // shows in the resident ones.
  const bool freed = free > free_after_trim_ + kWorthwhileBytes;
  const bool grown = resident > resident_after_trim_ + kWorthwhileBytes;
  if (free < kWorthwhileBytes || (!freed && !grown)) return;
  malloc_trim(kWorthwhileBytes / 4);
  free_after_trim_ = mallinfo2().fordblks;
  resident_after_trim_ = ResidentBytes();
}

}  // namespace evenkeel::cli
