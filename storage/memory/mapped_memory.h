// Zeroed memory taken from the system and given back to it as a whole.
#pragma once

#include <cstddef>
#include <utility>

namespace evenkeel::storage {

// A huge page: one entry of the processor's address cache. Random access to a large table costs
// little more than half with them (docs/performance.md).
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

class MappedMemory {
 public:
  MappedMemory() = default;
  // A multiple of kHugePageBytes is aligned to huge pages and asks for them.
  explicit MappedMemory(size_t bytes);
  MappedMemory(MappedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedMemory();

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace evenkeel::storage
