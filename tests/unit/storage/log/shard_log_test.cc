// One shard's log: reading, finding, cutting, listening.
#include "storage/log/shard_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/storage/log/log_test_lib.h"

namespace evenkeel::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ShardLogTest : public testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() {
    log_.reset();
    log_ = OpenLog(SmallLogOptions(&disk_), 2);
    shard_ = log_->shard({0});
  }

  tests::SimulatedFileSystem disk_{1};
  std::unique_ptr<SharedLog> log_;
  ShardLog* shard_ = nullptr;
};

TEST_F(ShardLogTest, ANewLogIsEmpty) {
  EXPECT_EQ(shard_->committed(), LogIndex{0});
  EXPECT_EQ(shard_->first_index(), LogIndex{1});
  EXPECT_THAT(*shard_->Read({1}, 1000), IsEmpty());
  EXPECT_EQ(log_->shard({7}), nullptr);
  EXPECT_THAT(log_->shard_ids(), ElementsAre(ShardId{0}, ShardId{1}));
}

TEST_F(ShardLogTest, ReadsOnlyItsOwnEntriesWithAllTheirFields) {
  for (uint64_t i = 1; i <= 60; ++i) {
    AppendAndWrite(log_.get(), 0, i, i, 500);
    AppendAndWrite(log_.get(), 1, i, i, 700);
  }
  for (const bool reopened : {false, true}) {
    if (reopened) Reopen();
    const auto entries = ReadAll(shard_, {1});
    ASSERT_TRUE(entries.ok());
    ASSERT_EQ(entries->size(), 60u);
    for (uint64_t i = 1; i <= 60; ++i) {
      const LogEntry expected = NumberedEntry(0, i, 500);
      const LogEntry& entry = (*entries)[i - 1];
      EXPECT_EQ(entry.index, expected.index);
      EXPECT_EQ(entry.term, expected.term);
      EXPECT_EQ(entry.first_timestamp, expected.first_timestamp);
      EXPECT_EQ(entry.last_timestamp, expected.last_timestamp);
      EXPECT_EQ(entry.payload, expected.payload);
    }
  }
}

TEST_F(ShardLogTest, ReadsUpToABoundButAtLeastOne) {
  AppendAndWrite(log_.get(), 0, 1, 10, 100);
  EXPECT_THAT(Indexes(*shard_->Read({3}, 0)), ElementsAre(3));
  EXPECT_THAT(Indexes(*shard_->Read({3}, 299)), ElementsAre(3, 4));
  EXPECT_THAT(Indexes(*shard_->Read({3}, 300)), ElementsAre(3, 4, 5));
  EXPECT_THAT(Indexes(*shard_->Read({9}, 1 << 20)), ElementsAre(9, 10));
  EXPECT_THAT(Indexes(*shard_->Read({11}, 1 << 20)), IsEmpty());
}

TEST_F(ShardLogTest, EntriesAreReadableWhenTheyAreCommitted) {
  shard_->Append(NumberedEntry(0, 1, 10));
  EXPECT_THAT(*shard_->Read({1}, 1000), IsEmpty());
  ASSERT_TRUE(log_->StepForTest());
  EXPECT_THAT(Indexes(*shard_->Read({1}, 1000)), ElementsAre(1));
}

TEST_F(ShardLogTest, ForgottenEntriesAreRefused) {
  SharedLogOptions options = SmallLogOptions(&disk_);
  options.retain_bytes = 0;
  log_.reset();
  log_ = OpenLog(options);
  shard_ = log_->shard({0});
  AppendAndWrite(log_.get(), 0, 1, 100, 500);
  EXPECT_EQ(shard_->first_index(), LogIndex{1});
  shard_->Forget({90});
  log_->StepForTest();
  const LogIndex first = shard_->first_index();
  EXPECT_GT(first, LogIndex{1});
  EXPECT_LE(first, LogIndex{91});
  EXPECT_EQ(CodeOf(shard_->Read({first.value - 1}, 10).status()), ErrorCode::kCappedPositionLost);
  EXPECT_EQ(shard_->Read({first}, 10)->front().index, first);
}

TEST_F(ShardLogTest, ReadReportsDamageWithItsPlace) {
  AppendAndWrite(log_.get(), 0, 1, 5, 500);
  ASSERT_TRUE(disk_.Damage(SegmentPath(1), 1500).ok());
  const auto entries = ReadAll(shard_, {1});
  EXPECT_EQ(CodeOf(entries.status()), ErrorCode::kUnknownError);
  EXPECT_THAT(std::string(MessageOf(entries.status())), testing::HasSubstr(SegmentPath(1)));
}

TEST_F(ShardLogTest, FindsByTimestamp) {
  AppendAndWrite(log_.get(), 0, 1, 50, 1000);  // entry n has timestamps of second n
  for (uint32_t seconds = 1; seconds <= 50; ++seconds) {
    EXPECT_LE(shard_->FindByTimestamp(Timestamp::FromParts(seconds, 1)).value, seconds);
  }
  EXPECT_GT(shard_->FindByTimestamp(Timestamp::FromParts(50, 0)), LogIndex{1});
  EXPECT_EQ(shard_->FindByTimestamp(Timestamp::FromParts(51, 0)), LogIndex{51});
}

TEST_F(ShardLogTest, CutsWhatIsNotCommitted) {
  AppendAndWrite(log_.get(), 0, 1, 2);
  for (uint64_t i = 3; i <= 5; ++i) shard_->Append(NumberedEntry(0, i, 10));
  log_->shard({1})->Append(NumberedEntry(1, 1, 10));
  EXPECT_EQ(CodeOf(shard_->CutSuffix({2})), ErrorCode::kIllegalOperation);
  ASSERT_TRUE(shard_->CutSuffix({4}).ok());
  shard_->Append(MakeEntry(4, "another fourth entry"));
  ASSERT_TRUE(log_->StepForTest());
  EXPECT_EQ(shard_->committed(), LogIndex{4});
  EXPECT_EQ(log_->shard({1})->committed(), LogIndex{1});
  EXPECT_EQ(shard_->Read({4}, 100)->front().payload, "another fourth entry");
  EXPECT_EQ(log_->Stats().queued_or_reserved_bytes, 0u);
}

TEST_F(ShardLogTest, TheListenerHearsOncePerGroup) {
  std::vector<uint64_t> heard;
  shard_->SetCommittedListener([&](LogIndex last) { heard.push_back(last.value); });
  for (uint64_t i = 1; i <= 3; ++i) shard_->Append(NumberedEntry(0, i, 10));
  log_->shard({1})->Append(NumberedEntry(1, 1, 10));
  log_->StepForTest();
  log_->shard({1})->Append(NumberedEntry(1, 2, 10));
  log_->StepForTest();
  EXPECT_THAT(heard, ElementsAre(3));
  shard_->SetCommittedListener(nullptr);
  AppendAndWrite(log_.get(), 0, 4, 4);
  EXPECT_THAT(heard, ElementsAre(3));
}

TEST_F(ShardLogTest, AShardThatIsNotNamedIsFoundByItsEntries) {
  AppendAndWrite(log_.get(), 1, 1, 2);
  log_.reset();
  log_ = OpenLog(SmallLogOptions(&disk_), 1);
  ASSERT_NE(log_->shard({1}), nullptr);
  EXPECT_EQ(log_->shard({1})->committed(), LogIndex{2});
}

TEST_F(ShardLogTest, HeldBackBytesFallWithForget) {
  AppendAndWrite(log_.get(), 0, 1, 100, 500);
  const uint64_t all = shard_->HeldBackBytes();
  EXPECT_GE(all, 50'000u);
  shard_->Forget({60});
  const uint64_t less = shard_->HeldBackBytes();
  EXPECT_LT(less, all);
  shard_->Forget({20});  // never goes back
  EXPECT_EQ(shard_->HeldBackBytes(), less);
  shard_->Forget({100});
  EXPECT_EQ(shard_->HeldBackBytes(), 0u);
  EXPECT_EQ(log_->shard({1})->HeldBackBytes(), 0u);
}

}  // namespace
}  // namespace evenkeel::storage
