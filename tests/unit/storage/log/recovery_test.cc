// Recovery: the torn end of the last write is cut off; damage to what was acknowledged is refused,
// with its place.
#include "storage/log/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/storage/log/log_test_lib.h"

namespace evenkeel::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kPayloadBytes = 200;
constexpr uint64_t kEntryBytes = LogRecordBytes(kPayloadBytes);
constexpr uint64_t kStartBytes = LogRecordBytes(12);  // one shard
// Where entry `n` of a log of single-entry groups begins, in the first segment.
constexpr uint64_t EntryOffset(uint64_t n) {
  return kLogFirstRecordOffset + kStartBytes + (n - 1) * kEntryBytes;
}

class RecoveryTest : public testing::Test {
 protected:
  std::unique_ptr<SharedLog> Open() { return OpenLog(SmallLogOptions(&disk_)); }

  // Entries 1 to `count`, a group each, and no closing record: the process dies.
  void Write(uint64_t count) {
    auto log = Open();
    AppendAndWrite(log.get(), 0, 1, count, kPayloadBytes);
    Die(std::move(log));
  }

  // Entries [from, to] in one group.
  void WriteOneGroup(uint64_t from, uint64_t to) {
    auto log = Open();
    for (uint64_t i = from; i <= to; ++i) {
      log->shard({0})->Append(NumberedEntry(0, i, kPayloadBytes));
    }
    ASSERT_TRUE(log->StepForTest());
    Die(std::move(log));
  }

  // Ends a log without letting it write anything more.
  void Die(std::unique_ptr<SharedLog> log) {
    disk_.StopAfter(1);
    disk_.SyncFolder(kLogFolder).IgnoreError();  // the last operation
    log.reset();
    disk_.RestartProcess();
  }

  absl::Status OpenError() {
    return SharedLog::Open(SmallLogOptions(&disk_), {ShardId{0}}).status();
  }

  void Damage(uint64_t segment, uint64_t offset) {
    ASSERT_TRUE(disk_.Damage(SegmentPath(segment), offset).ok());
  }

  std::vector<uint64_t> RecoveredIndexes() {
    auto log = Open();
    if (log == nullptr) return {};
    auto entries = ReadAll(log->shard({0}), {1});
    Die(std::move(log));
    return Indexes(*entries);
  }

  tests::SimulatedFileSystem disk_{1};
};

TEST_F(RecoveryTest, AnEmptyFolderIsAnEmptyLog) {
  const auto recovered = RecoverLog(&disk_, kLogFolder);
  ASSERT_TRUE(recovered.ok());
  EXPECT_TRUE(recovered->segments.empty());
}

TEST_F(RecoveryTest, FindsEverythingThatWasWritten) {
  Write(5);
  EXPECT_THAT(RecoveredIndexes(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(RecoveryTest, ADamagedLastGroupIsTheTornEnd) {
  Write(5);
  Damage(1, EntryOffset(5) + 100);
  EXPECT_THAT(RecoveredIndexes(), ElementsAre(1, 2, 3, 4));
}

TEST_F(RecoveryTest, ADamagedEarlyRecordIsRefusedWithItsPlace) {
  Write(5);
  Damage(1, EntryOffset(2) + 100);
  const absl::Status status = OpenError();
  EXPECT_EQ(CodeOf(status), ErrorCode::kUnknownError);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(SegmentPath(1)));
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(fmt::format("offset {}", EntryOffset(2))));
}

TEST_F(RecoveryTest, DamageAnywhereInTheMiddleIsRefused) {
  Write(5);
  for (uint64_t offset = kLogFirstRecordOffset; offset < EntryOffset(5); offset += 13) {
    const uint64_t in_record = (offset - EntryOffset(1)) % kEntryBytes;
    if (offset >= EntryOffset(1) && in_record >= kLogRecordHeaderBytes + kPayloadBytes) continue;
    if (offset >= kLogFirstRecordOffset + 64 + 12 && offset < EntryOffset(1)) continue;  // padding
    Damage(1, offset);
    EXPECT_EQ(CodeOf(OpenError()), ErrorCode::kUnknownError) << offset;
    Damage(1, offset);  // the same bits again: whole
  }
  EXPECT_THAT(RecoveredIndexes(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(RecoveryTest, TheClosingRecordProtectsTheLastGroup) {
  {
    auto log = Open();
    AppendAndWrite(log.get(), 0, 1, 3, kPayloadBytes);
    ASSERT_TRUE(log->Close().ok());
  }
  Damage(1, EntryOffset(3) + 70);
  EXPECT_EQ(CodeOf(OpenError()), ErrorCode::kUnknownError);
}

TEST_F(RecoveryTest, AHoleInTheLastGroupIsTorn) {
  WriteOneGroup(1, 6);
  Damage(1, EntryOffset(3) + 70);
  EXPECT_THAT(RecoveredIndexes(), ElementsAre(1, 2));
}

TEST_F(RecoveryTest, WholeRecordsBehindATornOneNeverComeBack) {
  WriteOneGroup(1, 6);
  Damage(1, EntryOffset(3) + 70);
  {
    auto log = Open();
    // Ends where the old entry 4 begins, which has the right number too.
    AppendAndWrite(log.get(), 0, 3, 3, kPayloadBytes);
    Die(std::move(log));
  }
  EXPECT_THAT(RecoveredIndexes(), ElementsAre(1, 2, 3));
  disk_.CutPower();
  EXPECT_THAT(RecoveredIndexes(), ElementsAre(1, 2, 3));
}

TEST_F(RecoveryTest, OldBytesOfARecycledSegmentAreNoRecords) {
  SharedLogOptions options = SmallLogOptions(&disk_);
  options.retain_bytes = 0;
  options.new_salt = [] { return uint64_t{42}; };  // the number alone must do
  auto log = OpenLog(options);
  uint64_t index = 0;
  // Round the same files several times; every segment ends up with the same layout.
  for (int i = 0; i < 300; ++i) {
    ++index;
    AppendAndWrite(log.get(), 0, index, index, kPayloadBytes);
    log->shard({0})->Forget({index - 1});
  }
  EXPECT_LE(disk_.List(kLogFolder)->size(), 5u);
  Die(std::move(log));
  log = OpenLog(options);
  EXPECT_EQ(log->shard({0})->committed(), LogIndex{index});
}

TEST_F(RecoveryTest, GoesOnInTheNextSegmentWithoutAClosingRecord) {
  Write(150);  // 40 KB in segments of 16 KB
  EXPECT_EQ(RecoveredIndexes().size(), 150u);
}

TEST_F(RecoveryTest, DamageAtTheEndOfAnOlderSegmentIsRefused) {
  Write(150);
  const auto log = RecoverLog(&disk_, kLogFolder);
  ASSERT_TRUE(log.ok());
  const LogSegmentShard* part = log->segments[0]->Find({0});
  ASSERT_NE(part, nullptr);
  Damage(1, EntryOffset(part->last.value) + 100);
  const absl::Status status = OpenError();
  EXPECT_THAT(std::string(MessageOf(status)),
              HasSubstr(fmt::format("damaged at offset {}", EntryOffset(part->last.value))));
}

TEST_F(RecoveryTest, ADamagedStartRecordIsRefusedWhenMoreFollows) {
  Write(150);
  Damage(2, kLogFirstRecordOffset + 20);
  EXPECT_EQ(CodeOf(OpenError()), ErrorCode::kUnknownError);
}

TEST_F(RecoveryTest, ADamagedStartRecordOfTheOldestSegmentIsRefused) {
  Write(150);
  ASSERT_TRUE(disk_.Remove(SegmentPath(1)).ok());
  ASSERT_TRUE(disk_.Remove(SegmentPath(2)).ok());
  EXPECT_TRUE(OpenError().ok());
  // Nothing later claims anything: still no empty log, since it is not the first segment.
  auto file = *disk_.Open(SegmentPath(3), false);
  ASSERT_TRUE(file->WriteAt(kLogFirstRecordOffset, std::string(15'000, '\0')).ok());
  EXPECT_EQ(CodeOf(OpenError()), ErrorCode::kUnknownError);
}

TEST_F(RecoveryTest, AMissingSegmentIsNamed) {
  Write(150);
  ASSERT_TRUE(disk_.Remove(SegmentPath(2)).ok());
  EXPECT_THAT(std::string(MessageOf(OpenError())), HasSubstr("log-0000000002 is missing"));
}

TEST_F(RecoveryTest, ADamagedSegmentHeaderIsNamed) {
  Write(3);
  Damage(1, 9);
  EXPECT_THAT(std::string(MessageOf(OpenError())), HasSubstr(SegmentPath(1)));
}

TEST_F(RecoveryTest, WhatASyncThatFailedLeftInMemoryIsWrittenAgain) {
  {
    auto log = Open();
    AppendAndWrite(log.get(), 0, 1, 2, kPayloadBytes);
    disk_.FailNextSync();
    log->shard({0})->Append(NumberedEntry(0, 3, kPayloadBytes));
    log->StepForTest();
    EXPECT_EQ(log->shard({0})->committed(), LogIndex{2});
    Die(std::move(log));
  }
  // The process sees entry 3, the disk does not have it.
  EXPECT_THAT(RecoveredIndexes(), ElementsAre(1, 2, 3));
  disk_.CutPower();
  EXPECT_THAT(RecoveredIndexes(), ElementsAre(1, 2, 3));
}

TEST_F(RecoveryTest, NumberingGoesOnWhenNoEntryIsLeft) {
  SharedLogOptions options = SmallLogOptions(&disk_);
  options.retain_bytes = 0;
  {
    auto log = OpenLog(options, 2);
    AppendAndWrite(log.get(), 0, 1, 3, kPayloadBytes);
    log->shard({0})->Forget({3});
    AppendAndWrite(log.get(), 1, 1, 150, kPayloadBytes);
    log->shard({1})->Forget({150});
    ASSERT_TRUE(log->StepForTest());
    EXPECT_EQ(log->shard({0})->first_index(), LogIndex{4});
  }
  const auto log = OpenLog(options, 2);
  EXPECT_EQ(log->shard({0})->committed(), LogIndex{3});
  EXPECT_EQ(log->shard({0})->first_index(), LogIndex{4});
  AppendAndWrite(log.get(), 0, 4, 4);
}

}  // namespace
}  // namespace evenkeel::storage
