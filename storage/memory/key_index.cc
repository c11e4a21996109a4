// Implements the index: open addressing, at most half full.
#include "storage/memory/key_index.h"

#include <absl/hash/hash.h>
#include <absl/strings/string_view.h>

namespace evenkeel::storage {
namespace {

constexpr int kFirstBits = 8;

}  // namespace

uint64_t KeyHash(std::string_view key) {
  return absl::Hash<absl::string_view>()(absl::string_view(key.data(), key.size()));
}

SkipNode* KeyIndex::Find(uint64_t hash, std::string_view key) const {
  const Slots* in = current_.load(std::memory_order_acquire);
  if (in == nullptr) return nullptr;
  for (size_t at = hash >> in->shift;; at = (at + 1) & in->mask) {
    const Slot& slot = in->slots[at];
    SkipNode* node = slot.node.load(std::memory_order_acquire);
    if (node == nullptr) return nullptr;
    if (slot.hash.load(std::memory_order_relaxed) == hash && node->key() == key) return node;
  }
}

void KeyIndex::Slots::Put(uint64_t hash, SkipNode* node) {
  size_t at = hash >> shift;
  while (slots[at].node.load(std::memory_order_relaxed) != nullptr) at = (at + 1) & mask;
  slots[at].hash.store(hash, std::memory_order_relaxed);
  slots[at].node.store(node, std::memory_order_release);
}

void KeyIndex::Insert(uint64_t hash, SkipNode* node) {
  if (all_.empty() || count_ > all_.back()->mask / 2) Grow();
  all_.back()->Put(hash, node);
  ++count_;
}

void KeyIndex::Grow() {
  const Slots* old = current_.load(std::memory_order_relaxed);
  all_.push_back(std::make_unique<Slots>(old == nullptr ? kFirstBits : 64 - old->shift + 1));
  Slots& grown = *all_.back();
  for (size_t at = 0; old != nullptr && at <= old->mask; ++at) {
    const Slot& slot = old->slots[at];
    SkipNode* node = slot.node.load(std::memory_order_relaxed);
    if (node != nullptr) grown.Put(slot.hash.load(std::memory_order_relaxed), node);
  }
  bytes_.store(bytes() + grown.memory.bytes(), std::memory_order_relaxed);
  current_.store(&grown, std::memory_order_release);
}

}  // namespace evenkeel::storage
