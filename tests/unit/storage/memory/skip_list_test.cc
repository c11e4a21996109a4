// The skip list: order, searches, versions, and readers beside the writer.
#include "storage/memory/skip_list.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>

#include "base/random.h"
#include "base/thread.h"

namespace evenkeel::storage {
namespace {

std::string KeyOf(uint64_t number) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
  return key;
}

std::string KeyOrEnd(const SkipNode* node) {
  return node == nullptr ? "end" : std::string(node->key());
}

// Fills a list in some order and compares every search with a std::set.
void CheckAgainstSet(const std::vector<std::string>& keys) {
  Arena arena;
  SkipList list(&arena);
  std::set<std::string> expected;
  for (const std::string& key : keys) {
    EXPECT_EQ(list.FindOrInsert(key)->key(), key);
    expected.insert(key);
  }
  EXPECT_EQ(list.count(), expected.size());
  SkipNode* node = list.First();
  for (const std::string& key : expected) {
    ASSERT_EQ(KeyOrEnd(node), key);
    node = SkipList::Next(node);
  }
  EXPECT_EQ(node, nullptr);
  EXPECT_EQ(KeyOrEnd(list.Last()), expected.empty() ? "end" : *expected.rbegin());
  std::vector<std::string> probes(keys.begin(), keys.end());
  for (const std::string& key : keys)
    probes.insert(probes.end(), {key + "0", key.substr(0, key.size() - 1), ""});
  for (const std::string& probe : probes) {
    const auto at_least = expected.lower_bound(probe);
    ASSERT_EQ(KeyOrEnd(list.FindAtLeast(probe)), at_least == expected.end() ? "end" : *at_least);
    ASSERT_EQ(KeyOrEnd(list.FindBefore(probe)),
              at_least == expected.begin() ? "end" : *std::prev(at_least));
    ASSERT_EQ(list.Find(probe) != nullptr, expected.contains(probe));
  }
}

TEST(SkipList, FindsKeysInWhateverOrderTheyCame) {
  base::Random random(5);
  std::vector<std::string> rising;
  std::vector<std::string> falling;
  std::vector<std::string> mixed;
  std::vector<std::string> runs;
  for (uint64_t i = 0; i < 2000; ++i) {
    rising.push_back(KeyOf(i));
    falling.push_back(KeyOf(2000 - i));
    mixed.push_back(random.Bytes(1 + random.Uniform(6)));
    runs.push_back(KeyOf(random.Uniform(5) * 1'000'000 + i));
  }
  CheckAgainstSet({});
  CheckAgainstSet({"a"});
  CheckAgainstSet(rising);
  CheckAgainstSet(falling);
  CheckAgainstSet(mixed);
  CheckAgainstSet(runs);
}

TEST(SkipList, BytesAboveAsciiSortAsUnsigned) {
  CheckAgainstSet({"\x7f", "\x80", "\xff", std::string("\0", 1), "a", std::string("a\0", 2)});
}

TEST(SkipList, TheNewestVersionAtOrBelowAStampIsFound) {
  Arena arena;
  SkipList list(&arena);
  SkipNode* node = list.FindOrInsert("k");
  EXPECT_EQ(node->NewestAt(100), nullptr);
  const Version* older = nullptr;
  for (const uint64_t stamp : {10, 20, 30}) {
    Version* version = stamp == 20 ? Version::NewRemoval(&arena, stamp)
                                   : Version::New(&arena, stamp, std::string(stamp, 'x'));
    version->older = older;
    node->set_newest(older = version);
  }
  EXPECT_EQ(node->NewestAt(9), nullptr);
  EXPECT_EQ(node->NewestAt(10)->value().size(), 10u);
  EXPECT_TRUE(node->NewestAt(29)->removed());
  EXPECT_EQ(node->NewestAt(30)->value().size(), 30u);
  EXPECT_EQ(node->NewestAt(~uint64_t{0})->value().size(), 30u);
}

TEST(SkipList, ReadersBesideTheWriterSeeWholeNodesInOrder) {
  Arena arena;
  SkipList list(&arena);
  std::atomic<bool> done{false};
  std::atomic<uint64_t> inserted{0};
  const auto read = [&] {
    while (!done.load()) {
      const uint64_t at_least = inserted.load();
      uint64_t count = 0;
      std::string_view before;
      for (SkipNode* node = list.First(); node != nullptr; node = SkipList::Next(node)) {
        ASSERT_LT(before, node->key());
        before = node->key();
        const Version* version = node->newest();
        ASSERT_TRUE(version == nullptr || version->value() == node->key());
        ++count;
      }
      ASSERT_GE(count, at_least);
    }
  };
  {
    const base::Thread one("reader", read);
    const base::Thread two("reader", read);
    base::Random random(7);
    for (uint64_t i = 0; i < 3000; ++i) {
      const std::string key = random.Bytes(8);
      SkipNode* node = list.FindOrInsert(key);
      node->set_newest(Version::New(&arena, i, key));
      inserted.store(list.count());
    }
    done.store(true);
  }
}

}  // namespace
}  // namespace evenkeel::storage
