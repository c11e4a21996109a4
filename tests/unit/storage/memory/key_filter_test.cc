// The filter of frozen tables.
#include "storage/memory/key_filter.h"

#include <gtest/gtest.h>

#include <string>

#include "storage/memory/mem_table.h"

namespace evenkeel::storage {
namespace {

TEST(KeyFilter, KnowsEveryKeyAndFewOthers) {
  for (const uint64_t count : {0, 1, 41, 1000, 20'000}) {
    Arena arena;
    SkipList list(&arena);
    for (uint64_t i = 0; i < count; ++i) list.FindOrInsert("key" + std::to_string(i));
    const KeyFilter filter(list);
    for (uint64_t i = 0; i < count; ++i)
      ASSERT_TRUE(filter.MayContain(FilterHash("key" + std::to_string(i))));
    int wrong = 0;
    for (int i = 0; i < 10'000; ++i)
      wrong += filter.MayContain(FilterHash("other" + std::to_string(i)));
    EXPECT_LT(wrong, 250) << count;
    EXPECT_LE(filter.bytes(), count * 2 + 128);
  }
}

TEST(KeyFilter, ATableFindsTheSameWithAndWithoutFilters) {
  MemTable table(LogIndex{1});
  for (int i = 0; i < 500; ++i) table.Put(Table::kDocs, "key" + std::to_string(i), 5, "v");
  const auto found = [&] {
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::string key = "key" + std::to_string(i);
      count += table.Find(Table::kDocs, key, FilterHash(key)) != nullptr;
      count += table.Find(Table::kMeta, key, FilterHash(key)) != nullptr;
    }
    return count;
  };
  EXPECT_EQ(found(), 500);
  const size_t before = table.held_bytes();
  table.BuildFilters();
  EXPECT_EQ(found(), 500);
  EXPECT_GT(table.held_bytes(), before);
}

}  // namespace
}  // namespace evenkeel::storage
