// Memory that is given out in small pieces by one thread and given back as a whole.
//
// Pieces stay where they are until the arena is destroyed, so other threads may read what was
// published to them. Chunks grow from small ones (there are many small tables) to huge pages, which
// go back to the system when the table is dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "storage/memory/mapped_memory.h"

namespace evenkeel::storage {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // `bytes` of memory, aligned to 8. One thread.
  char* Allocate(size_t bytes);

  // Bytes given out, rounded up to 8 each. Any thread.
  size_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  // Bytes taken from the system for it. Any thread.
  size_t held_bytes() const { return held_.load(std::memory_order_relaxed); }

 private:
  char* NewChunk(size_t bytes);

  std::vector<std::unique_ptr<char[]>> small_;
  std::vector<MappedMemory> large_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t chunk_bytes_ = 4096;  // of the next chunk; grows
  std::atomic<size_t> used_{0};
  std::atomic<size_t> held_{0};
};

}  // namespace evenkeel::storage
