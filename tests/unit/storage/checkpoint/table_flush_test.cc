// Flushing a memory table: what is written, hung, left out, and what a stop in between leaves.
#include "storage/checkpoint/table_flush.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "storage/lmdb/doc_value.h"
#include "tests/lib/fake_checkpoint_store.h"

namespace evenkeel::storage {
namespace {

constexpr CheckpointPosition kPosition{LogIndex{5}, Timestamp{50}, Timestamp{60}};

class TableFlushTest : public testing::Test {
 protected:
  TableFlushTest() { EXPECT_TRUE(LoadEngineState(&lmdb_).ok()); }

  absl::Status Flush(MemTable* table, size_t pages_max = 1'000'000, bool go_on = true) {
    TableFlush flush(
        table, &lmdb_, &options_, [=] { return pages_max; },
        [=](const TableFlush::Progress&) { return go_on; });
    absl::Status status = flush.Run(kPosition);
    damaged_ = flush.damaged();
    return status;
  }
  std::string InLmdb(const std::string& key) {
    const auto content = lmdb_.Content(DatabaseOf(Table::kDocs));
    const auto found = content.find(key);
    if (found == content.end()) return "-";
    EXPECT_TRUE(DocValueIntact(found->second));
    const DocValue doc = SplitDocValue(found->second);
    return std::string(doc.document) + "@" + std::to_string(doc.commit_timestamp.bits);
  }
  static std::string Hung(const MemTable& table, const std::string& key) {
    const Version* hung = table.list(Table::kDocs).Find(key)->hung();
    if (hung == nullptr) return "nothing";
    return hung->removed() ? "absent"
                           : std::string(hung->value()) + "@" + std::to_string(hung->stamp);
  }
  LogIndex Position() { return LoadEngineState(&lmdb_)->position.index; }

  tests::FakeCheckpointStore lmdb_;
  StoreOptions options_;
  uint64_t damaged_ = 0;
};

TEST_F(TableFlushTest, TheNewestVersionIsWrittenAndTheOldOneHung) {
  MemTable first(LogIndex{1});
  first.Put(Table::kDocs, "kept", 1, "old");
  first.Put(Table::kDocs, "gone", 2, "old");
  ASSERT_TRUE(Flush(&first).ok());
  MemTable second(LogIndex{2});
  second.Put(Table::kDocs, "kept", 3, "newer");
  second.Put(Table::kDocs, "kept", 4, "newest");
  second.Remove(Table::kDocs, "gone", 5);
  second.Remove(Table::kDocs, "never there", 6);
  MemTable::TakeBack(second.Put(Table::kDocs, "taken back", 7, "x"));
  ASSERT_TRUE(Flush(&second).ok());
  EXPECT_EQ(InLmdb("kept"), "newest@4");
  EXPECT_EQ(InLmdb("gone"), "-");
  EXPECT_EQ(InLmdb("taken back"), "-");
  EXPECT_EQ(Hung(second, "kept"), "old@1");
  EXPECT_EQ(Hung(second, "gone"), "old@2");
  EXPECT_EQ(Hung(second, "never there"), "absent");
  EXPECT_EQ(Hung(second, "taken back"), "nothing");
  EXPECT_EQ(Hung(first, "kept"), "absent");
}

TEST_F(TableFlushTest, OnlyTheLastTransactionMovesThePosition) {
  MemTable table(LogIndex{1});
  for (int i = 0; i < 10; ++i) table.Put(Table::kDocs, "k" + std::to_string(i), 9, "v");
  table.Put(Table::kCounters, "c", 5, EncodeCount({10, 10}));
  table.AddDeadRange({Table::kDocs, {"x", "y"}, Timestamp{9}});
  const uint64_t before = lmdb_.commits();
  for (uint64_t commits = 0; commits < 4; ++commits) {
    lmdb_.AllowCommits(commits);
    EXPECT_EQ(CodeOf(Flush(&table, 3)), ErrorCode::kOutOfDiskSpace);
    EXPECT_EQ(Position(), LogIndex{});
    EXPECT_TRUE(lmdb_.Content(DatabaseOf(Table::kCounters)).empty());
    EXPECT_EQ(Hung(table, "k0"), "absent") << "also when the flush is repeated";
  }
  lmdb_.AllowCommits(100);
  EXPECT_TRUE(Flush(&table, 3).ok());
  EXPECT_GE(lmdb_.commits() - before, 4u);
  EXPECT_EQ(Position(), LogIndex{5});
  EXPECT_EQ(DecodeCount(lmdb_.Content(DatabaseOf(Table::kCounters))["c"]), (Count{10, 10}));
  EXPECT_EQ(LoadEngineState(&lmdb_)->removals.size(), 1u);
}

TEST_F(TableFlushTest, GivesUpWhenTheStoreCloses) {
  MemTable table(LogIndex{1});
  for (int i = 0; i < 10; ++i) table.Put(Table::kDocs, "k" + std::to_string(i), 9, "v");
  EXPECT_EQ(CodeOf(Flush(&table, 3, false)), ErrorCode::kShutdownInProgress);
  EXPECT_EQ(InLmdb("k0"), "v@9");
  EXPECT_EQ(InLmdb("k9"), "-");
}

TEST_F(TableFlushTest, DeadRowsAreLeftOut) {
  options_.is_dead = [](Table table, std::string_view, std::string_view value) {
    return table == Table::kSessions && value == "dead";
  };
  MemTable first(LogIndex{1});
  first.Put(Table::kSessions, "was alive", 1, "alive");
  ASSERT_TRUE(Flush(&first).ok());
  MemTable table(LogIndex{2});
  table.Put(Table::kSessions, "was alive", 2, "dead");
  table.Put(Table::kSessions, "never written", 3, "dead");
  table.Put(Table::kSessions, "alive", 4, "alive");
  table.Put(Table::kDocs, "doc", 5, "dead");
  ASSERT_TRUE(Flush(&table).ok());
  EXPECT_EQ(lmdb_.Content(DatabaseOf(Table::kSessions)).size(), 1u);
  EXPECT_EQ(InLmdb("doc"), "dead@5");
}

TEST_F(TableFlushTest, N3_AWrongChecksumIsNoticedWhenItIsHung) {
  MemTable first(LogIndex{1});
  first.Put(Table::kDocs, "k", 1, "document");
  ASSERT_TRUE(Flush(&first).ok());
  EXPECT_EQ(damaged_, 0u);
  std::string stored = lmdb_.Content(DatabaseOf(Table::kDocs))["k"];
  stored.back() ^= 1;
  lmdb_.Damage(DatabaseOf(Table::kDocs), "k", stored);
  MemTable second(LogIndex{2});
  second.Put(Table::kDocs, "k", 2, "healed");
  ASSERT_TRUE(Flush(&second).ok());
  EXPECT_EQ(damaged_, 1u);
  EXPECT_EQ(InLmdb("k"), "healed@2");
}

}  // namespace
}  // namespace evenkeel::storage
