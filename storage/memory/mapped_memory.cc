// Implements the mapping.
#include "storage/memory/mapped_memory.h"

#include <sys/mman.h>

#include <cstdint>

#include "base/check.h"

namespace evenkeel::storage {
namespace {

char* Map(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EVENKEEL_CHECK(memory != MAP_FAILED);
  return static_cast<char*>(memory);
}

char* MapHugePages(size_t bytes) {
  char* memory = Map(bytes + kHugePageBytes);
  const size_t before = -reinterpret_cast<uintptr_t>(memory) % kHugePageBytes;
  if (before > 0) munmap(memory, before);
  munmap(memory + before + bytes, kHugePageBytes - before);
  madvise(memory + before, bytes, MADV_HUGEPAGE);  // only advice: small pages do as well
  return memory + before;
}

}  // namespace

MappedMemory::MappedMemory(size_t bytes)
    : data_(bytes % kHugePageBytes == 0 ? MapHugePages(bytes) : Map(bytes)), bytes_(bytes) {}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace evenkeel::storage
