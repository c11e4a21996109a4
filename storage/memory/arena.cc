// Implements the arena.
#include "storage/memory/arena.h"

#include <algorithm>

namespace evenkeel::storage {
namespace {

constexpr size_t kSmallChunkBytesMax = size_t{128} << 10;  // from the allocator

}  // namespace

char* Arena::Allocate(size_t bytes) {
  bytes = (bytes + 7) & ~size_t{7};
  used_.store(used_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  if (bytes > left_) {
    // A piece of more than a quarter of a chunk gets its own, so the rest of the current one is not
    // wasted.
    if (bytes > chunk_bytes_ / 4) return NewChunk(bytes);
    next_ = NewChunk(chunk_bytes_);
    left_ = chunk_bytes_;
    chunk_bytes_ = chunk_bytes_ < kSmallChunkBytesMax ? chunk_bytes_ * 2 : kHugePageBytes;
  }
  char* piece = next_;
  next_ += bytes;
  left_ -= bytes;
  return piece;
}

char* Arena::NewChunk(size_t bytes) {
  held_.store(held_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  if (bytes <= kSmallChunkBytesMax) {
    return small_.emplace_back(std::make_unique<char[]>(bytes)).get();
  }
  return large_.emplace_back(bytes).data();
}

}  // namespace evenkeel::storage
