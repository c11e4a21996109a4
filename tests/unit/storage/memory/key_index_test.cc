// The hash index: what was inserted is found, nothing else, and by readers beside the writer too.
#include "storage/memory/key_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "base/thread.h"

namespace evenkeel::storage {
namespace {

TEST(KeyIndex, FindsWhatWasInsertedAndNothingElse) {
  for (const int count : {0, 1, 7, 8, 9, 1000, 20'000}) {
    Arena arena;
    SkipList list(&arena);
    KeyIndex index;
    for (int i = 0; i < count; ++i) {
      const std::string key = "key" + std::to_string(i);
      index.Insert(KeyHash(key), list.FindOrInsert(key));
    }
    for (int i = 0; i < count; ++i) {
      const std::string key = "key" + std::to_string(i);
      const SkipNode* found = index.Find(KeyHash(key), key);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->key(), key);
      const std::string other = "other" + std::to_string(i);
      EXPECT_EQ(index.Find(KeyHash(other), other), nullptr);
    }
    EXPECT_LE(index.bytes(), static_cast<size_t>(count) * 128 + 8192);
  }
}

TEST(KeyIndex, KeysWithTheSameHashAreToldApart) {
  Arena arena;
  SkipList list(&arena);
  KeyIndex index;
  // The highest bits choose the slot: the last ones wrap around the array's end.
  for (const uint64_t hash : {uint64_t{0}, ~uint64_t{0}}) {
    for (const char* key : {"a", "b", "c"}) {
      const std::string name = key + std::to_string(hash);
      index.Insert(hash, list.FindOrInsert(name));
    }
    for (const char* key : {"a", "b", "c"}) {
      const std::string name = key + std::to_string(hash);
      ASSERT_NE(index.Find(hash, name), nullptr);
      EXPECT_EQ(index.Find(hash, name)->key(), name);
    }
    EXPECT_EQ(index.Find(hash, "d"), nullptr);
  }
}

TEST(KeyIndex, ReadersFindWhatTheWriterHasPublished) {
  Arena arena;
  SkipList list(&arena);
  KeyIndex index;
  std::atomic<int> published{0};
  std::atomic<bool> wrong{false};
  constexpr int kKeys = 20'000;
  base::Thread reader("reader", [&] {
    for (int seen = 0; seen < kKeys;) {
      seen = published.load(std::memory_order_acquire);
      for (int i = seen > 50 ? seen - 50 : 0; i < seen; ++i) {
        const std::string key = std::to_string(i);
        const SkipNode* node = index.Find(KeyHash(key), key);
        if (node == nullptr || node->key() != key) wrong = true;
      }
    }
  });
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = std::to_string(i);
    index.Insert(KeyHash(key), list.FindOrInsert(key));
    published.store(i + 1, std::memory_order_release);
  }
  reader.Join();
  EXPECT_FALSE(wrong);
}

}  // namespace
}  // namespace evenkeel::storage
