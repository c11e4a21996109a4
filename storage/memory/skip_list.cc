// Implements the skip list.
#include "storage/memory/skip_list.h"

#include <new>

#include "base/check.h"
#include "base/limits.h"

namespace evenkeel::storage {

Version* Version::New(Arena* arena, uint64_t stamp, std::string_view value) {
  char* memory = arena->Allocate(sizeof(Version) + value.size());
  auto* version = new (memory) Version{.stamp = stamp, .size = static_cast<uint32_t>(value.size())};
  if (!value.empty()) std::memcpy(memory + sizeof(Version), value.data(), value.size());
  return version;
}

Version* Version::NewRemoval(Arena* arena, uint64_t stamp) {
  return new (arena->Allocate(sizeof(Version))) Version{.stamp = stamp, .size = kRemoved};
}

const Version* SkipNode::NewestAt(uint64_t stamp) const {
  const Version* version = newest();
  while (version != nullptr && version->stamp > stamp) version = version->older;
  return version;
}

SkipList::SkipList(Arena* arena) : arena_(arena), head_(NewNode({}, kHeightMax)) {
  for (int level = 0; level < kHeightMax; ++level) {
    splice_.prev[level] = head_;
    splice_.next[level] = nullptr;
  }
}

SkipNode* SkipList::NewNode(std::string_view key, int height) {
  const size_t links_bytes = static_cast<size_t>(height) * sizeof(SkipNode::Link);
  char* memory = arena_->Allocate(sizeof(SkipNode) + links_bytes + key.size());
  auto* node = new (memory) SkipNode(static_cast<uint16_t>(key.size()), static_cast<uint8_t>(height));
  for (int level = 0; level < height; ++level) new (&node->links()[level]) SkipNode::Link(nullptr);
  if (!key.empty()) std::memcpy(memory + sizeof(SkipNode) + links_bytes, key.data(), key.size());
  return node;
}

int SkipList::RandomHeight() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  int height = 1;
  for (uint64_t bits = random_ >> 8; height < kHeightMax && (bits & 3) == 0; bits >>= 2) ++height;
  return height;
}

void SkipList::MoveSplice(std::string_view key) {
  const int top = height_.load(std::memory_order_relaxed);
  int level = 0;
  while (level < top) {
    SkipNode* prev = splice_.prev[level];
    // A link may have changed since: the neighbour is looked up again where it was on this level.
    SkipNode* next = prev->next(level);
    splice_.next[level] = next;
    if ((prev == head_ || prev->key() < key) && (next == nullptr || next->key() >= key)) break;
    ++level;
  }
  SkipNode* prev = level < top ? splice_.prev[level] : head_;
  for (int below = level < top ? level - 1 : top - 1; below >= 0; --below) {
    SkipNode* next = prev->next(below);
    while (next != nullptr && next->key() < key) {
      prev = next;
      next = prev->next(below);
    }
    splice_.prev[below] = prev;
    splice_.next[below] = next;
  }
}

SkipNode* SkipList::FindOrInsert(std::string_view key) {
  EVENKEEL_DCHECK(!key.empty() && key.size() <= limits::kLmdbKeyBytesMax);
  MoveSplice(key);
  if (SkipNode* found = splice_.next[0]; found != nullptr && found->key() == key) return found;
  const int height = RandomHeight();
  const int top = height_.load(std::memory_order_relaxed);
  if (height > top) height_.store(height, std::memory_order_relaxed);
  // Levels of the splice above the one where it was found to enclose the key may be stale: find them from the top.
  SkipNode* node = NewNode(key, height);
  SkipNode* prev = head_;
  for (int level = std::max(height, top) - 1; level >= 0; --level) {
    if (level < height) {
      SkipNode* known = splice_.prev[level];
      SkipNode* next = known->next(level);
      const bool encloses =
          (known == head_ || known->key() < key) && (next == nullptr || next->key() > key);
      if (!encloses) {
        next = prev->next(level);
        while (next != nullptr && next->key() < key) {
          prev = next;
          next = prev->next(level);
        }
        known = prev;
      }
      prev = known;
      splice_.prev[level] = known;
      node->links()[level].store(next, std::memory_order_relaxed);
    }
  }
  for (int level = 0; level < height; ++level) {
    splice_.prev[level]->links()[level].store(node, std::memory_order_release);
    splice_.prev[level] = node;
  }
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return node;
}
