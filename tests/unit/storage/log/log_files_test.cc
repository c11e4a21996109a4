// The files of the log's folder: made, used again, given back; nothing left behind on a full disk.
#include "storage/log/log_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/storage/log/log_test_lib.h"

namespace evenkeel::storage {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr uint64_t kSegmentBytes = 16 << 10;

class LogFilesTest : public testing::Test {
 protected:
  LogFiles MakeFiles() {
    return LogFiles({.file_system = &disk_,
                     .folder = kLogFolder,
                     .segment_bytes = kSegmentBytes,
                     .ballast_bytes = 8192,
                     .spare_count_max = 1,
                     .new_salt = [this] { return ++salt_; }});
  }
  std::vector<std::string> Names() { return *disk_.List(kLogFolder); }

  tests::SimulatedFileSystem disk_{1};
  uint64_t salt_ = 0;
};

TEST(LogSegmentName, RoundTrips) {
  EXPECT_EQ(LogSegmentName(12), "log-0000000012");
  for (const uint64_t number : {1ull, 12ull, 99'999'999'999ull}) {
    EXPECT_EQ(ParseLogSegmentName(LogSegmentName(number)), number);
  }
  for (const char* name : {"log-", "log-x1", "spare-0000000001", "ballast", "log-1.tmp", "log--1",
                           "log-99999999999999999999999"}) {
    EXPECT_EQ(ParseLogSegmentName(name), std::nullopt) << name;
  }
}

TEST_F(LogFilesTest, APreparedSegmentSurvivesPowerLoss) {
  for (const bool zeroed : {false, true}) {
    LogFiles files = MakeFiles();
    ASSERT_TRUE(files.Open().ok());
    const auto segment = files.Prepare(3, zeroed);
    ASSERT_TRUE(segment.ok());
    EXPECT_EQ((*segment)->capacity(), kSegmentBytes);
    const uint64_t salt = (*segment)->salt();
    disk_.CutPower();
    EXPECT_THAT(Names(), ElementsAre("log-0000000003"));
    const auto bytes = (*disk_.Open(SegmentPath(3), false))->ReadAt(0, kSegmentBytes);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->size(), kSegmentBytes);
    EXPECT_EQ(DecodeLogSegmentHeader(*bytes)->salt, salt);
  }
}

TEST_F(LogFilesTest, ARetiredSegmentIsUsedAgainWithAnotherSalt) {
  LogFiles files = MakeFiles();
  ASSERT_TRUE(files.Open().ok());
  auto first = *files.Prepare(1, false);
  const uint64_t old_salt = first->salt();
  ASSERT_TRUE(files.Retire(std::move(first)).ok());
  EXPECT_THAT(Names(), ElementsAre("spare-0000000001"));
  const uint64_t used = disk_.UsedBytes();
  const auto second = files.Prepare(2, true);
  ASSERT_TRUE(second.ok());
  EXPECT_NE((*second)->salt(), old_salt);
  EXPECT_EQ(disk_.UsedBytes(), used);
  EXPECT_THAT(Names(), ElementsAre("log-0000000002"));
}

TEST_F(LogFilesTest, ASegmentSomebodyReadsIsRemovedButStaysReadable) {
  LogFiles files = MakeFiles();
  ASSERT_TRUE(files.Open().ok());
  auto segment = *files.Prepare(1, false);
  const std::shared_ptr<LogSegment> reader = segment;
  ASSERT_TRUE(files.Retire(std::move(segment)).ok());
  EXPECT_THAT(Names(), ElementsAre());
  EXPECT_TRUE(DecodeLogSegmentHeader(*reader->file().ReadAt(0, 512)).ok());
}

TEST_F(LogFilesTest, SparesPastTheBoundAreRemoved) {
  LogFiles files = MakeFiles();
  ASSERT_TRUE(files.Open().ok());
  auto first = *files.Prepare(1, false);
  auto second = *files.Prepare(2, false);
  ASSERT_TRUE(files.Retire(std::move(first)).ok());
  ASSERT_TRUE(files.Retire(std::move(second)).ok());
  EXPECT_EQ(files.spare_count(), 1u);
  EXPECT_EQ(Names().size(), 1u);
}

TEST_F(LogFilesTest, OpenKeepsGoodSparesAndRemovesTheOthers) {
  {
    auto good = *disk_.Open(std::string(kLogFolder) + "/spare-0000000004", true);
    ASSERT_TRUE(good->Allocate(kSegmentBytes).ok());
    auto half = *disk_.Open(std::string(kLogFolder) + "/spare-0000000009", true);
    ASSERT_TRUE(half->Allocate(kSegmentBytes / 2).ok());
  }
  LogFiles files = MakeFiles();
  ASSERT_TRUE(files.Open().ok());
  EXPECT_THAT(Names(), ElementsAre("spare-0000000004"));
  EXPECT_EQ(files.spare_count(), 1u);
  ASSERT_TRUE(files.Prepare(1, false).ok());
  EXPECT_THAT(Names(), ElementsAre("log-0000000001"));
}

TEST_F(LogFilesTest, AFullDiskLeavesNothingBehind) {
  LogFiles files = MakeFiles();
  ASSERT_TRUE(files.Open().ok());
  disk_.SetCapacityBytes(kSegmentBytes - 1);
  EXPECT_EQ(CodeOf(files.Prepare(1, false).status()), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(CodeOf(files.Prepare(1, true).status()), ErrorCode::kOutOfDiskSpace);
  EXPECT_THAT(Names(), ElementsAre());
  disk_.SetCapacityBytes(kSegmentBytes);
  EXPECT_TRUE(files.Prepare(1, true).ok());
}

TEST_F(LogFilesTest, TheBallastIsReleasedAndRestored) {
  LogFiles files = MakeFiles();
  ASSERT_TRUE(files.Open().ok());
  EXPECT_FALSE(files.has_ballast());
  ASSERT_TRUE(files.RestoreBallast().ok());
  EXPECT_TRUE(files.has_ballast());
  EXPECT_EQ(disk_.UsedBytes(), 8192u);
  disk_.CutPower();
  LogFiles again = MakeFiles();
  ASSERT_TRUE(again.Open().ok());
  EXPECT_TRUE(again.has_ballast());
  ASSERT_TRUE(again.ReleaseBallast().ok());
  EXPECT_FALSE(again.has_ballast());
  EXPECT_EQ(disk_.UsedBytes(), 0u);
  disk_.SetCapacityBytes(100);
  EXPECT_EQ(CodeOf(again.RestoreBallast()), ErrorCode::kOutOfDiskSpace);
  EXPECT_FALSE(again.has_ballast());
  EXPECT_THAT(Names(), UnorderedElementsAre());
}

}  // namespace
}  // namespace evenkeel::storage
