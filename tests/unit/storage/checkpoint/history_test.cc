// How long history is kept.
#include "storage/checkpoint/history.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

class HistoryTest : public testing::Test {
 protected:
  // Three tables in LMDB with commits up to 100, 200, 300, and the active one.
  void Make(size_t bytes_max) {
    auto list = std::make_shared<TableList>();
    for (const uint64_t last : {100, 200, 300, 0}) {
      auto table = std::make_shared<MemTable>(LogIndex{1});
      if (last > 0) table->Put(Table::kDocs, "k", last, std::string(20'000, 'x'));
      table->EndBatch(LogIndex{1}, Timestamp{last}, {});
      list->entries.push_back({std::move(table), last > 0});
    }
    auto view = std::make_shared<View>();
    view->tables = list;
    views_ = std::make_unique<ViewPublisher>(view);
    history_ = std::make_shared<History>(views_.get(), bytes_max, absl::Minutes(5));
    for (int i = 0; i < 3; ++i)
      history_->AddTable(list->entries[i].table.get(), kStart + absl::Minutes(i));
  }
  size_t Kept() { return views_->Current()->tables->entries.size() - 1; }
  Timestamp Floor() { return views_->Current()->tables->history_floor; }

  std::unique_ptr<ViewPublisher> views_;
  std::shared_ptr<History> history_;
};

TEST_F(HistoryTest, TablesGoWithAge) {
  Make(1 << 30);
  history_->Trim(kStart + absl::Minutes(4));
  EXPECT_EQ(Kept(), 3u);
  history_->Trim(kStart + absl::Minutes(5) + absl::Seconds(1));
  EXPECT_EQ(Kept(), 2u);
  EXPECT_EQ(Floor(), Timestamp{100});
  history_->Trim(kStart + absl::Minutes(50));
  EXPECT_EQ(Kept(), 0u);
  EXPECT_EQ(Floor(), Timestamp{300});
}

TEST_F(HistoryTest, AnOpenSnapshotKeepsWhatItNeeds) {
  Make(1 << 30);
  auto snapshot = history_->Open(Timestamp{150});
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ((*snapshot)->timestamp(), Timestamp{150});
  EXPECT_EQ(history_->LowestOpen(), Timestamp{150});
  history_->Trim(kStart + absl::Hours(1));
  EXPECT_EQ(Kept(), 2u) << "the first holds nothing above 150";
  snapshot->reset();
  EXPECT_EQ(history_->LowestOpen(), kTimestampMax);
  history_->Trim(kStart + absl::Hours(1));
  EXPECT_EQ(Kept(), 0u);
}

TEST_F(HistoryTest, PastTheBudgetTheOldestSnapshotsEnd) {
  Make(60'000);
  const auto old_snapshot = history_->Open(Timestamp{50});
  const auto snapshot = history_->Open(Timestamp{250});
  history_->Trim(kStart);
  EXPECT_GT(Kept(), 0u);
  EXPECT_LT(Kept(), 3u);
  EXPECT_LE(history_->HeldBytes(), 60'000u);
  EXPECT_EQ(CodeOf(history_->Open(Timestamp{50}).status()), ErrorCode::kSnapshotTooOld);
  EXPECT_TRUE(history_->Open(Timestamp{250}).ok());
}

TEST_F(HistoryTest, MemoryIsFreedOnlyWhenNoReaderUsesIt) {
  Make(1 << 30);
  const std::weak_ptr<MemTable> table = views_->Current()->tables->entries[0].table;
  auto reader = views_->Current();
  history_->Trim(kStart + absl::Hours(1));
  EXPECT_FALSE(table.expired());
  reader.reset();
  EXPECT_FALSE(table.expired()) << "not on the reader's thread";
  history_->Trim(kStart + absl::Hours(1));
  EXPECT_TRUE(table.expired());
}

}  // namespace
}  // namespace evenkeel::storage
