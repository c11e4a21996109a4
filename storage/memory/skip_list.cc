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
  auto* node =
      new (memory) SkipNode(static_cast<uint16_t>(key.size()), static_cast<uint8_t>(height));
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
  // The levels are nested: where one encloses the key, all above it do.
  const int top = height_.load(std::memory_order_relaxed);
  int level = 0;
  for (; level < top; ++level) {
    const SkipNode* prev = splice_.prev[level];
    const SkipNode* next = splice_.next[level];
    if ((prev == head_ || prev->key() < key) && (next == nullptr || next->key() >= key)) break;
  }
  SkipNode* prev = level < kHeightMax ? splice_.prev[level] : head_;
  while (--level >= 0) {
    SkipNode* next = prev->next(level);
    while (next != nullptr && next->key() < key) {
      prev = next;
      next = prev->next(level);
    }
    splice_.prev[level] = prev;
    splice_.next[level] = next;
  }
}

SkipNode* SkipList::FindOrInsert(std::string_view key) {
  EVENKEEL_DCHECK(!key.empty() && key.size() <= limits::kLmdbKeyBytesMax);
  MoveSplice(key);
  SkipNode* found = splice_.next[0];
  if (found != nullptr && found->key() == key) return found;
  const int height = RandomHeight();
  SkipNode* node = NewNode(key, height);
  for (int level = 0; level < height; ++level) {
    node->links()[level].store(splice_.next[level], std::memory_order_relaxed);
    splice_.prev[level]->links()[level].store(node, std::memory_order_release);
    splice_.prev[level] = node;
  }
  if (height > height_.load(std::memory_order_relaxed)) {
    height_.store(height, std::memory_order_relaxed);
  }
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return node;
}

SkipNode* SkipList::FindAtLeast(std::string_view key) const {
  SkipNode* prev = head_;
  SkipNode* known_above = nullptr;  // already compared on a higher level
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    SkipNode* next = prev->next(level);
    while (next != nullptr && next != known_above && next->key() < key) {
      prev = next;
      next = prev->next(level);
    }
    known_above = next;
  }
  return known_above;
}

SkipNode* SkipList::Find(std::string_view key) const {
  SkipNode* node = FindAtLeast(key);
  return node != nullptr && node->key() == key ? node : nullptr;
}

SkipNode* SkipList::FindBefore(std::string_view key) const {
  SkipNode* prev = head_;
  SkipNode* known_above = nullptr;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    SkipNode* next = prev->next(level);
    while (next != nullptr && next != known_above && next->key() < key) {
      prev = next;
      next = prev->next(level);
    }
    known_above = next;
  }
  return prev == head_ ? nullptr : prev;
}

SkipNode* SkipList::Last() const {
  SkipNode* prev = head_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    for (SkipNode* next = prev->next(level); next != nullptr; next = prev->next(level)) prev = next;
  }
  return prev == head_ ? nullptr : prev;
}

}  // namespace evenkeel::storage
