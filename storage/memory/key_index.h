// A hash index over the nodes of a memory table: finds a key, or that it is absent, in about two
// cache lines, where the ordered list needs one for every step of its search.
//
// One writer, any number of readers without locks. Slots are only ever filled; a full array is
// replaced by one of twice the size, and kept for readers that still look at it until the index is
// destroyed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/memory/mapped_memory.h"
#include "storage/memory/skip_list.h"

namespace evenkeel::storage {

// The hash of a key in all memory tables of this process.
uint64_t KeyHash(std::string_view key);

class KeyIndex {
 public:
  KeyIndex() = default;
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  // The node of `key`, whose KeyHash is `hash`, or null. Any thread.
  SkipNode* Find(uint64_t hash, std::string_view key) const;
  // Adds a complete node that is not there. Writer only.
  void Insert(uint64_t hash, SkipNode* node);
  // Memory held. Any thread.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  // The hash is valid once `node` is seen.
  struct Slot {
    std::atomic<SkipNode*> node;
    std::atomic<uint64_t> hash;
  };
  // Indexed by the highest bits of the hash, so that growing reads and writes in order.
  struct Slots {
    explicit Slots(int bits)
        : shift(64 - bits),
          mask((size_t{1} << bits) - 1),
          memory((mask + 1) * sizeof(Slot)),
          slots(reinterpret_cast<Slot*>(memory.data())) {}
    void Put(uint64_t hash, SkipNode* node);
    const int shift;
    const size_t mask;
    const MappedMemory memory;  // zero: empty slots
    Slot* const slots;
  };

  void Grow();

  std::atomic<const Slots*> current_{nullptr};
  std::vector<std::unique_ptr<Slots>> all_;  // the last one is current
  size_t count_ = 0;
  std::atomic<size_t> bytes_{0};
};

}  // namespace evenkeel::storage
