// Space and old segments: a full disk fails writes before they begin, removals go on, old segments
// go when they may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fail_point.h"
#include "tests/unit/storage/log/log_test_lib.h"

namespace evenkeel::storage {
namespace {

using testing::HasSubstr;

constexpr uint64_t kSegment = 16 << 10;

size_t SegmentCount(tests::SimulatedFileSystem* disk) {
  size_t count = 0;
  const std::vector<std::string> names = *disk->List(kLogFolder);
  for (const std::string& name : names) {
    if (ParseLogSegmentName(name).has_value()) ++count;
  }
  return count;
}

// Reserves and writes entries of 1 KB until a reservation fails; returns how many were written.
uint64_t WriteUntilFull(SharedLog* log, uint64_t* next, bool essential = false) {
  ShardLog* const shard = log->shard({0});
  for (uint64_t written = 0;; ++written) {
    const absl::Status status = essential ? shard->ReserveEssential(1000) : shard->Reserve(1000);
    if (!status.ok()) {
      EXPECT_EQ(CodeOf(status), ErrorCode::kOutOfDiskSpace);
      EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("segment"));
      return written;
    }
    shard->Append(NumberedEntry(0, (*next)++, 1000));
    EXPECT_TRUE(log->StepForTest());
  }
}

TEST(LogUpkeep, AFullDiskFailsReservationsNotWrites) {
  tests::SimulatedFileSystem disk(1);
  disk.SetCapacityBytes(3 * kSegment);
  int fatal = 0;
  SharedLogOptions options = SmallLogOptions(&disk);
  options.on_fatal = [&](const absl::Status&) { ++fatal; };
  auto log = OpenLog(options);
  uint64_t next = 1;
  EXPECT_GE(WriteUntilFull(log.get(), &next), 40u);
  EXPECT_EQ(fatal, 0);
  EXPECT_EQ(ReadAll(log->shard({0}), {1})->size(), next - 1);  // reads go on
  EXPECT_TRUE(log->Close().ok());                              // with its closing record
  log.reset();
  EXPECT_EQ(OpenLog(options)->shard({0})->committed(), LogIndex{next - 1});
}

TEST(LogUpkeep, ReservedRoomIsThereWhenTheDiskFills) {
  tests::SimulatedFileSystem disk(1);
  int fatal = 0;
  SharedLogOptions options = SmallLogOptions(&disk);
  options.on_fatal = [&](const absl::Status&) { ++fatal; };
  auto log = OpenLog(options, 3);
  for (uint32_t shard = 0; shard < 3; ++shard) {
    ASSERT_TRUE(log->shard({shard})->Reserve(14'000).ok());
  }
  disk.SetCapacityBytes(0);
  for (uint32_t shard = 0; shard < 3; ++shard) {
    log->shard({shard})->Append(NumberedEntry(shard, 1, 14'000));
    EXPECT_TRUE(log->StepForTest());
    EXPECT_TRUE(log->StepForTest());  // and the closing records between
  }
  EXPECT_EQ(fatal, 0);
  EXPECT_EQ(log->shard({2})->committed(), LogIndex{1});
}

TEST(LogUpkeep, ASecondReservationRaisesTheFirst) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk));
  ASSERT_TRUE(log->shard({0})->Reserve(1000).ok());
  const uint64_t first = log->Stats().queued_or_reserved_bytes;
  ASSERT_TRUE(log->shard({0})->Reserve(500).ok());
  EXPECT_EQ(log->Stats().queued_or_reserved_bytes, first);
  ASSERT_TRUE(log->shard({0})->Reserve(2000).ok());
  EXPECT_EQ(log->Stats().queued_or_reserved_bytes, first + 1000);
  log->shard({0})->Append(NumberedEntry(0, 1, 10));
  ASSERT_TRUE(log->StepForTest());
  EXPECT_EQ(log->Stats().queued_or_reserved_bytes, 0u);
}

TEST(LogUpkeep, AnEntryLargerThanReservedOnAFullDiskIsFatal) {
  tests::SimulatedFileSystem disk(1);
  int fatal = 0;
  SharedLogOptions options = SmallLogOptions(&disk);
  options.on_fatal = [&](const absl::Status&) { ++fatal; };
  auto log = OpenLog(options);
  AppendAndWrite(log.get(), 0, 1, 1, 7000);
  disk.SetCapacityBytes(0);
  log->shard({0})->Append(NumberedEntry(0, 2, 14'000));
  EXPECT_FALSE(log->StepForTest());
  EXPECT_EQ(fatal, 1);
}

TEST(LogUpkeep, EssentialBatchesGoOnWithTheBallast) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.ballast_bytes = 2 * kSegment;
  disk.SetCapacityBytes(2 * kSegment + options.ballast_bytes);
  auto log = OpenLog(options);
  uint64_t next = 1;
  WriteUntilFull(log.get(), &next);
  EXPECT_FALSE(log->Stats().space_is_low);
  EXPECT_GE(WriteUntilFull(log.get(), &next, /*essential=*/true), 20u);
  EXPECT_TRUE(log->Stats().space_is_low);
  // Ordinary batches wait until the ballast is back.
  EXPECT_EQ(CodeOf(log->shard({0})->Reserve(1)), ErrorCode::kOutOfDiskSpace);
  log->shard({0})->Forget({next - 1});
  disk.SetCapacityBytes(20 * kSegment);
  EXPECT_TRUE(log->shard({0})->Reserve(1).ok());
  EXPECT_FALSE(log->Stats().space_is_low);
  EXPECT_TRUE(disk.Exists(std::string(kLogFolder) + "/ballast"));
}

TEST(LogUpkeep, AStartOnAFullDiskTakesOnlyEssentialBatches) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.ballast_bytes = 2 * kSegment;
  disk.SetCapacityBytes(2 * kSegment);
  auto log = OpenLog(options);
  EXPECT_EQ(CodeOf(log->shard({0})->Reserve(1)), ErrorCode::kOutOfDiskSpace);
  EXPECT_TRUE(log->shard({0})->ReserveEssential(1).ok());
}

TEST(LogUpkeep, FreeSpaceIsKeptForCheckpoints) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.segment_bytes = 32 << 20;
  options.free_bytes_min = 1 << 20;
  auto log = OpenLog(options);
  ASSERT_TRUE(log->shard({0})->Reserve(10 << 20).ok());
  log->shard({0})->Append(NumberedEntry(0, 1, 10 << 20));
  ASSERT_TRUE(log->StepForTest());
  disk.SetCapacityBytes(disk.UsedBytes() + 1000);
  EXPECT_EQ(CodeOf(log->shard({0})->Reserve(1)), ErrorCode::kOutOfDiskSpace);
  EXPECT_TRUE(log->shard({0})->ReserveEssential(1).ok());
  disk.SetCapacityBytes(disk.UsedBytes() + (2 << 20));
  EXPECT_TRUE(log->shard({0})->Reserve(1000).ok());
}

TEST(LogUpkeep, AFullDiskTakesSegmentsThatAreOnlyKeptForReaders) {
  tests::SimulatedFileSystem disk(1);
  disk.SetCapacityBytes(4 * kSegment);
  auto log = OpenLog(SmallLogOptions(&disk));  // would keep a megabyte
  for (uint64_t i = 1; i <= 300; ++i) {
    AppendAndWrite(log.get(), 0, i, i, 1000);
    log->shard({0})->Forget({i});
  }
  EXPECT_GT(log->shard({0})->first_index(), LogIndex{200});
}

TEST(LogUpkeep, OldSegmentsAreKeptWithinTheirBytes) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.retain_bytes = 4 * kSegment;
  auto log = OpenLog(options);
  AppendAndWrite(log.get(), 0, 1, 150, 1000);
  EXPECT_GE(SegmentCount(&disk), 10u);  // nothing forgotten yet
  log->shard({0})->Forget({150});
  log->StepForTest();
  EXPECT_GE(SegmentCount(&disk), 4u);
  EXPECT_LE(SegmentCount(&disk), 5u);  // with one made ready
  EXPECT_EQ(ReadAll(log->shard({0}), log->shard({0})->first_index())->back().index, LogIndex{150});
}

TEST(LogUpkeep, OldSegmentsAreKeptWithinTheirAge) {
  tests::SimulatedFileSystem disk(1);
  base::FakeWallClock clock(absl::FromUnixSeconds(100));
  SharedLogOptions options = SmallLogOptions(&disk);
  options.clock = &clock;
  options.retain_age = absl::Seconds(1000);
  auto log = OpenLog(options);
  AppendAndWrite(log.get(), 0, 1, 60, 1000);  // of the seconds 1 to 60
  log->shard({0})->Forget({60});
  log->StepForTest();
  EXPECT_EQ(log->shard({0})->first_index(), LogIndex{1});
  clock.Advance(absl::Seconds(930));  // 1030: what is older than second 30 may go
  log->StepForTest();
  EXPECT_GT(log->shard({0})->first_index(), LogIndex{1});
  EXPECT_LE(log->shard({0})->first_index(), LogIndex{30});
}

TEST(LogUpkeep, OneShardThatForgetsNothingKeepsEverything) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.retain_bytes = 0;
  auto log = OpenLog(options, 2);
  AppendAndWrite(log.get(), 1, 1, 1);
  AppendAndWrite(log.get(), 0, 1, 100, 1000);
  log->shard({0})->Forget({100});
  log->StepForTest();
  EXPECT_EQ(log->shard({0})->first_index(), LogIndex{1});
  EXPECT_GT(log->shard({1})->HeldBackBytes(), 100'000u);
  log->shard({1})->Forget({1});
  log->StepForTest();
  EXPECT_GT(log->shard({0})->first_index(), LogIndex{80});
}

TEST(LogUpkeep, SegmentsAreMadeReadyAheadOfTime) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk));
  AppendAndWrite(log.get(), 0, 1, 5, 1000);
  EXPECT_EQ(log->Stats().ready_count, 0u);
  AppendAndWrite(log.get(), 0, 6, 10, 1000);  // past half of the segment
  EXPECT_EQ(log->Stats().ready_count, 1u);
}

TEST(LogUpkeep, TheDiskFullFailPointSparesEssentialBatches) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk));
  base::ScopedFailPoint full(base::fail_points::storage_log_disk_full,
                             base::FailPointMode::Always());
  EXPECT_EQ(CodeOf(log->shard({0})->Reserve(1)), ErrorCode::kOutOfDiskSpace);
  EXPECT_TRUE(log->shard({0})->ReserveEssential(1).ok());
}

}  // namespace
}  // namespace evenkeel::storage
