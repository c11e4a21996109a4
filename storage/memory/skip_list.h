// An ordered set of byte-string keys, each with a chain of versions: one writer, any number of
// readers without locks.
//
// Nodes and versions live in arenas and are never moved or freed before the list's memory is
// dropped as a whole. A node is never removed; a key without versions (all taken back) is as good
// as absent.
//
// Invariants
//   I1  The versions of a node are linked newest first; stamps do not rise along the chain.
//   I2  A pointer is published with release order after what it points to is complete.
//   I3  `hung` is set at most once, before the checkpoint overwrites the key in LMDB, and never
//   changes afterwards.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "storage/memory/arena.h"

namespace evenkeel::storage {

// One value of a key, or its removal. The bytes of the value follow the header.
struct Version {
  static constexpr uint32_t kRemoved = 0xffffffff;

  uint64_t stamp = 0;  // commit timestamp; log index in the counters' list
  const Version* older = nullptr;
  uint32_t size = 0;  // kRemoved: the key does not exist from here on
  uint32_t unused = 0;

  bool removed() const { return size == kRemoved; }
  std::string_view value() const {
    return removed() ? std::string_view()
                     : std::string_view(reinterpret_cast<const char*>(this + 1), size);
  }
  // Builds a version in `arena`; `value` is copied.
  static Version* New(Arena* arena, uint64_t stamp, std::string_view value);
  static Version* NewRemoval(Arena* arena, uint64_t stamp);
};

// A key of the list. Its links and then its key follow the header in memory.
class SkipNode {
 public:
  std::string_view key() const {
    return {reinterpret_cast<const char*>(this + 1) + height_ * sizeof(Link), key_size_};
  }
  const Version* newest() const { return newest_.load(std::memory_order_acquire); }
  // The newest version whose stamp is at most `stamp`, or null.
  const Version* NewestAt(uint64_t stamp) const;
  // What LMDB held before the checkpoint of this table wrote the key: null until then; a removal
  // stands for "absent".
  const Version* hung() const { return hung_.load(std::memory_order_acquire); }

  void set_newest(const Version* version) {
    newest_.store(version, std::memory_order_release);
  }  // writer
  void set_hung(const Version* old) {
    hung_.store(old, std::memory_order_release);
  }  // checkpoint thread

 private:
  friend class SkipList;
  using Link = std::atomic<SkipNode*>;

  SkipNode(uint16_t key_size, uint8_t height) : key_size_(key_size), height_(height) {}
  Link* links() { return reinterpret_cast<Link*>(this + 1); }
  SkipNode* next(int level) { return links()[level].load(std::memory_order_acquire); }

  std::atomic<const Version*> newest_{nullptr};
  std::atomic<const Version*> hung_{nullptr};
  uint16_t key_size_;
  uint8_t height_;
};

class SkipList {
 public:
  static constexpr int kHeightMax = 12;  // four to the twelfth is more than a table ever holds

  // `arena` outlives the list; only the writer allocates from it.
  explicit SkipList(Arena* arena);
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // The node of `key`, made if it is missing. Writer only. Cheap when keys come in order.
  SkipNode* FindOrInsert(std::string_view key);

  // Any thread.
  SkipNode* Find(std::string_view key) const;         // or null
  SkipNode* FindAtLeast(std::string_view key) const;  // the first node with a key >= `key`, or null
  SkipNode* FindBefore(std::string_view key) const;   // the last node with a key < `key`, or null
  SkipNode* First() const { return head_->next(0); }
  SkipNode* Last() const;  // null when empty
  static SkipNode* Next(SkipNode* node) { return node->next(0); }
  // How many nodes were inserted: changes whenever a cursor may have to look again.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  bool empty() const { return First() == nullptr; }

 private:
  // The neighbours of a position on every level: prev[i] < key <= next[i].
  struct Splice {
    SkipNode* prev[kHeightMax];
    SkipNode* next[kHeightMax];
  };

  SkipNode* NewNode(std::string_view key, int height);
  int RandomHeight();
  // Brings `splice_` to `key`, from the lowest level whose neighbours still enclose it.
  void MoveSplice(std::string_view key);

  Arena* const arena_;
  SkipNode* const head_;
  std::atomic<int> height_{1};
  std::atomic<uint64_t> count_{0};
  uint64_t random_ = 0x9e3779b97f4a7c15;
  Splice splice_;  // of the last insertion
};

}  // namespace evenkeel::storage
