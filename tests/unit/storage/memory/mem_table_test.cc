// The memory table: versions, what is taken back, what the checkpoint hangs.
#include "storage/memory/mem_table.h"

#include <gtest/gtest.h>

namespace evenkeel::storage {
namespace {

TEST(MemTable, TablesAreApart) {
  MemTable table(LogIndex{1});
  table.Put(Table::kDocs, "k", 5, "doc");
  table.Remove(Table::kIndex, "k", 6);
  EXPECT_EQ(table.list(Table::kDocs).Find("k")->newest()->value(), "doc");
  EXPECT_TRUE(table.list(Table::kIndex).Find("k")->newest()->removed());
  EXPECT_EQ(table.list(Table::kMeta).Find("k"), nullptr);
}

TEST(MemTable, TakingBackShowsTheVersionBefore) {
  MemTable table(LogIndex{1});
  table.Put(Table::kDocs, "k", 5, "old");
  SkipNode* node = table.Put(Table::kDocs, "k", 6, "new");
  MemTable::TakeBack(node);
  EXPECT_EQ(node->newest()->value(), "old");
  MemTable::TakeBack(node);
  EXPECT_EQ(node->newest(), nullptr);
}

TEST(MemTable, OneUnitMayWriteAKeyTwice) {
  MemTable table(LogIndex{1});
  table.Put(Table::kDocs, "k", 5, "first");
  SkipNode* node = table.Remove(Table::kDocs, "k", 5);
  EXPECT_TRUE(node->NewestAt(5)->removed());
}

TEST(MemTable, TheFirstHungValueStays) {
  MemTable table(LogIndex{1});
  SkipNode* node = table.Put(Table::kDocs, "k", 5, "new");
  EXPECT_EQ(node->hung(), nullptr);
  table.HangOld(node, 3, "old");
  table.HangAbsent(node);
  ASSERT_NE(node->hung(), nullptr);
  EXPECT_EQ(node->hung()->value(), "old");
  EXPECT_EQ(node->hung()->stamp, 3u);
  SkipNode* other = table.Put(Table::kDocs, "l", 5, "new");
  table.HangAbsent(other);
  EXPECT_TRUE(other->hung()->removed());
}

TEST(MemTable, CountsBytesAndBatches) {
  MemTable table(LogIndex{7});
  EXPECT_LT(table.last_index(), table.first_index());
  const size_t empty = table.used_bytes();
  table.Put(Table::kDocs, "key", 5, std::string(1000, 'x'));
  EXPECT_GE(table.used_bytes() - empty, 1003u);
  EXPECT_LE(table.used_bytes() - empty, 1150u);
  table.EndBatch(LogIndex{7}, Timestamp{5}, Timestamp{9});
  table.EndBatch(LogIndex{8}, Timestamp{4}, Timestamp{});
  EXPECT_EQ(table.last_index(), LogIndex{8});
  EXPECT_EQ(table.max_timestamp(), Timestamp{5});
  EXPECT_EQ(table.clock_bound(), Timestamp{9});
  const size_t held = table.held_bytes();
  table.HangOld(table.list(Table::kDocs).First(), 1, std::string(100'000, 'y'));
  EXPECT_GE(table.held_bytes() - held, 100'000u);
}

TEST(MemTable, CountsSurviveTheirEncoding) {
  for (const Count count : {Count{}, Count{1, -1}, Count{INT64_MAX, INT64_MIN}}) {
    EXPECT_EQ(DecodeCount(EncodeCount(count)), count);
  }
  EXPECT_EQ(DecodeCount("short"), Count{});
}

}  // namespace
}  // namespace evenkeel::storage
