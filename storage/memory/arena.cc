// Implements the arena.
#include "storage/memory/arena.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/check.h"

namespace evenkeel::storage {
namespace {

constexpr size_t kChunkBytesMax = size_t{1} << 20;
constexpr size_t kMappedBytesMin = size_t{256} << 10;  // smaller chunks come from the allocator

}  // namespace

Arena::~Arena() {
  for (const Chunk& chunk : chunks_) {
    if (chunk.mapped) {
      munmap(chunk.data, chunk.bytes);
    } else {
      delete[] chunk.data;
    }
  }
}

char* Arena::Allocate(size_t bytes) {
  bytes = (bytes + 7) & ~size_t{7};
  used_.store(used_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  if (bytes > left_) {
    // A piece of more than a quarter of a chunk gets its own, so the rest of the current one is not
    // wasted.
    if (bytes > chunk_bytes_ / 4) return NewChunk(bytes);
    next_ = NewChunk(chunk_bytes_);
    left_ = chunk_bytes_;
    chunk_bytes_ = std::min(chunk_bytes_ * 2, kChunkBytesMax);
  }
  char* piece = next_;
  next_ += bytes;
  left_ -= bytes;
  return piece;
}

char* Arena::NewChunk(size_t bytes) {
  Chunk chunk{nullptr, bytes, bytes >= kMappedBytesMin};
  if (chunk.mapped) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EVENKEEL_CHECK(memory != MAP_FAILED);
    chunk.data = static_cast<char*>(memory);
  } else {
    chunk.data = new char[bytes];
  }
  chunks_.push_back(chunk);
  held_.store(held_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  return chunk.data;
}

}  // namespace evenkeel::storage
