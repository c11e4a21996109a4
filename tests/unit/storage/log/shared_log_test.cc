// The shared log: groups, threads, closing, and what happens after a failure.
#include "storage/log/shared_log.h"

#include <absl/synchronization/notification.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdlib.h>

#include <atomic>
#include <filesystem>

#include "base/fail_point.h"
#include "base/thread.h"
#include "tests/unit/storage/log/log_test_lib.h"

namespace evenkeel::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SharedLog, AGroupIsOneWriteAndOneSync) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk), 3);
  for (uint32_t shard = 0; shard < 3; ++shard) {
    for (uint64_t i = 1; i <= 5; ++i) log->shard({shard})->Append(NumberedEntry(shard, i, 100));
  }
  const uint64_t writes = disk.write_count();
  const uint64_t syncs = disk.sync_count();
  ASSERT_TRUE(log->StepForTest());
  EXPECT_EQ(disk.write_count(), writes + 1);
  EXPECT_EQ(disk.sync_count(), syncs + 1);
  for (uint32_t shard = 0; shard < 3; ++shard) {
    EXPECT_EQ(log->shard({shard})->committed(), LogIndex{5});
  }
}

TEST(SharedLog, GroupsAreCutAtTheirBound) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk));  // groups of 4 KB
  for (uint64_t i = 1; i <= 6; ++i) log->shard({0})->Append(NumberedEntry(0, i, 1200));
  ASSERT_TRUE(log->StepForTest());
  EXPECT_EQ(log->shard({0})->committed(), LogIndex{3});
  ASSERT_TRUE(log->StepForTest());
  EXPECT_EQ(log->shard({0})->committed(), LogIndex{6});
}

TEST(SharedLog, TheLargestEntryFitsAndALargerOneIsRefused) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk));
  const size_t largest = log->shard({0})->PayloadBytesMax();
  EXPECT_GT(largest, 15'000u);
  for (uint64_t i = 1; i <= 4; ++i) {
    ASSERT_TRUE(log->shard({0})->Reserve(largest).ok());
    log->shard({0})->Append(MakeEntry(i, std::string(largest, 'x')));
    ASSERT_TRUE(log->StepForTest());
    while (log->StepForTest()) {
    }
  }
  EXPECT_EQ(CodeOf(log->shard({0})->Reserve(largest + 1)), ErrorCode::kTransactionTooLarge);
  log.reset();
  log = OpenLog(SmallLogOptions(&disk));
  EXPECT_EQ(log->shard({0})->committed(), LogIndex{4});
  EXPECT_EQ(log->shard({0})->Read({4}, 1)->front().payload, std::string(largest, 'x'));
}

TEST(SharedLog, AnIdleLogWritesOneClosingRecord) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk));
  EXPECT_FALSE(log->StepForTest());  // nothing to claim
  AppendAndWrite(log.get(), 0, 1, 1);
  const LogPosition durable = log->Stats().durable;
  EXPECT_TRUE(log->StepForTest());
  EXPECT_EQ(log->Stats().durable.offset(), durable.offset() + kLogRecordHeaderBytes);
  EXPECT_FALSE(log->StepForTest());
  EXPECT_FALSE(log->StepForTest());
}

TEST(SharedLog, CloseWritesWhatIsQueuedAndIsHarmlessTwice) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk));
  for (uint64_t i = 1; i <= 20; ++i) log->shard({0})->Append(NumberedEntry(0, i, 1000));
  EXPECT_TRUE(log->Close().ok());
  EXPECT_TRUE(log->Close().ok());
  EXPECT_EQ(log->shard({0})->committed(), LogIndex{20});
  EXPECT_EQ(CodeOf(log->shard({0})->Reserve(1)), ErrorCode::kShutdownInProgress);
  disk.CutPower();
  log.reset();
  EXPECT_EQ(OpenLog(SmallLogOptions(&disk))->shard({0})->committed(), LogIndex{20});
}

TEST(SharedLog, AfterAFailedSyncNothingIsAcknowledged) {
  tests::SimulatedFileSystem disk(1);
  std::vector<absl::Status> fatal;
  SharedLogOptions options = SmallLogOptions(&disk);
  options.on_fatal = [&](const absl::Status& status) { fatal.push_back(status); };
  auto log = OpenLog(options);
  std::vector<uint64_t> heard;
  log->shard({0})->SetCommittedListener([&](LogIndex last) { heard.push_back(last.value); });
  AppendAndWrite(log.get(), 0, 1, 1);
  disk.FailNextSync();
  log->shard({0})->Append(NumberedEntry(0, 2, 10));
  EXPECT_FALSE(log->StepForTest());
  const uint64_t writes = disk.write_count();
  log->shard({0})->Append(NumberedEntry(0, 3, 10));
  EXPECT_FALSE(log->StepForTest());
  EXPECT_EQ(disk.write_count(), writes);
  EXPECT_THAT(heard, ElementsAre(1));
  EXPECT_EQ(log->shard({0})->committed(), LogIndex{1});
  ASSERT_EQ(fatal.size(), 1u);
  EXPECT_THAT(std::string(MessageOf(fatal[0])), HasSubstr("failed to sync"));
  EXPECT_FALSE(log->shard({0})->Reserve(1).ok());
  EXPECT_EQ(log->Close(), fatal[0]);
}

TEST(SharedLog, ThePlantedFailPointsAreFatal) {
  for (const char* point :
       {"storage_log_before_write", "storage_log_torn_write", "storage_log_sync_fails"}) {
    tests::SimulatedFileSystem disk(1);
    int fatal = 0;
    SharedLogOptions options = SmallLogOptions(&disk);
    options.on_fatal = [&](const absl::Status&) { ++fatal; };
    auto log = OpenLog(options);
    AppendAndWrite(log.get(), 0, 1, 1);
    base::FindFailPoint(point)->Set(base::FailPointMode::Always());
    log->shard({0})->Append(NumberedEntry(0, 2, 1000));
    EXPECT_FALSE(log->StepForTest()) << point;
    base::ResetFailPoints();
    EXPECT_EQ(fatal, 1) << point;
    log.reset();
    EXPECT_GE(OpenLog(SmallLogOptions(&disk))->shard({0})->committed(), LogIndex{1}) << point;
  }
}

TEST(SharedLog, AnImpossibleSegmentSizeIsRefused) {
  tests::SimulatedFileSystem disk(1);
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{100}, uint64_t{1} << 32}) {
    SharedLogOptions options = SmallLogOptions(&disk);
    options.segment_bytes = bytes;
    EXPECT_EQ(CodeOf(SharedLog::Open(options, {}).status()), ErrorCode::kInvalidOptions) << bytes;
  }
}

TEST(SharedLog, AnotherSegmentSizeIsTakenUpAtTheNextStart) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  { AppendAndWrite(OpenLog(options).get(), 0, 1, 12, 1000); }  // past half: a segment is ready
  options.segment_bytes = 64 << 10;
  auto log = OpenLog(options);
  ASSERT_TRUE(log->shard({0})->Reserve(50'000).ok());
  log->shard({0})->Append(MakeEntry(13, std::string(50'000, 'x')));
  ASSERT_TRUE(log->StepForTest());
  log.reset();
  options.segment_bytes = 16 << 10;
  EXPECT_EQ(OpenLog(options)->shard({0})->committed(), LogIndex{13});
}

TEST(SharedLog, AFolderHasOneLog) {
  tests::SimulatedFileSystem disk(1);
  auto log = OpenLog(SmallLogOptions(&disk));
  EXPECT_EQ(CodeOf(SharedLog::Open(SmallLogOptions(&disk), {}).status()),
            ErrorCode::kOperationFailed);
  log.reset();
  EXPECT_TRUE(SharedLog::Open(SmallLogOptions(&disk), {}).ok());
}

// Threads: the order is the system's; what must hold is the same.

TEST(SharedLogThreads, EveryShardGetsAllItsNoticesInOrder) {
  constexpr uint64_t kEntries = 300;
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.threads = true;
  options.retain_bytes = 0;
  auto log = OpenLog(options, 3);
  std::atomic<uint64_t> last[3] = {0, 0, 0};
  std::atomic<bool> backwards = false;
  for (uint32_t shard = 0; shard < 3; ++shard) {
    log->shard({shard})->SetCommittedListener([&, shard](LogIndex index) {
      if (index.value <= last[shard]) backwards = true;
      last[shard] = index.value;
      log->shard({shard})->Forget({index.value / 2});
    });
  }
  {
    std::vector<base::Thread> writers;
    for (uint32_t shard = 0; shard < 3; ++shard) {
      writers.emplace_back("writer", [&, shard] {
        for (uint64_t i = 1; i <= kEntries; ++i) {
          if (!log->shard({shard})->Reserve(900).ok()) return;
          log->shard({shard})->Append(NumberedEntry(shard, i, 200 + i % 700));
          if (i % 50 == 0)
            log->shard({shard})->Read({last[shard] + 1}, 1000).status().IgnoreError();
        }
      });
    }
  }
  EXPECT_TRUE(log->Close().ok());
  EXPECT_FALSE(backwards);
  for (uint32_t shard = 0; shard < 3; ++shard) EXPECT_EQ(last[shard], kEntries) << shard;
  log.reset();
  disk.CutPower();
  log = OpenLog(SmallLogOptions(&disk), 3);
  for (uint32_t shard = 0; shard < 3; ++shard) {
    ShardLog* const reader = log->shard({shard});
    EXPECT_EQ(reader->committed(), LogIndex{kEntries}) << shard;
    const auto entries = ReadAll(reader, reader->first_index());
    ASSERT_TRUE(entries.ok());
    for (const LogEntry& entry : *entries) {
      EXPECT_EQ(entry.payload,
                NumberedEntry(shard, entry.index.value, 200 + entry.index.value % 700).payload);
    }
  }
}

TEST(SharedLogThreads, WorksOnTheOperatingSystemsFiles) {
  std::string folder = testing::TempDir() + "evenkeel-log-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  SharedLogOptions options = SmallLogOptions(FileSystem::System());
  options.folder = folder + "/a/log";
  options.threads = true;
  options.ballast_bytes = 64 << 10;
  options.retain_bytes = 0;
  for (uint64_t life = 0; life < 3; ++life) {
    auto log = OpenLog(options, 2);
    ASSERT_NE(log, nullptr);
    for (uint32_t shard = 0; shard < 2; ++shard) {
      ShardLog* const mine = log->shard({shard});
      ASSERT_EQ(mine->committed(), LogIndex{life * 20});
      for (uint64_t i = 1; i <= 20; ++i) {
        ASSERT_TRUE(mine->Reserve(3000).ok());
        mine->Append(NumberedEntry(shard, life * 20 + i, 3000));
      }
    }
    ASSERT_TRUE(log->Close().ok());
    const auto entries = ReadAll(log->shard({1}), {life * 20 + 1});
    ASSERT_TRUE(entries.ok());
    EXPECT_EQ(entries->back().payload, NumberedEntry(1, life * 20 + 20, 3000).payload);
    log->shard({0})->Forget({life * 20 + 20});
  }
  std::filesystem::remove_all(folder);
}

TEST(SharedLogThreads, TheClosingRecordComesByItself) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.threads = true;
  options.closing_delay = absl::ZeroDuration();
  auto log = OpenLog(options);
  absl::Notification committed;
  log->shard({0})->SetCommittedListener([&](LogIndex) { committed.Notify(); });
  log->shard({0})->Append(NumberedEntry(0, 1, 10));
  committed.WaitForNotification();
  while (log->Stats().groups < 2) {
  }
  const LogPosition durable = log->Stats().durable;
  log.reset();
  const auto recovered = RecoverLog(&disk, kLogFolder);
  EXPECT_TRUE(recovered->closed);
  EXPECT_EQ(recovered->end, durable);
}

TEST(SharedLogThreads, AReplacedListenerIsNotRunningAnyMore) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.threads = true;
  auto log = OpenLog(options);
  for (uint64_t round = 0; round < 50; ++round) {
    auto alive = std::make_unique<std::atomic<bool>>(true);
    std::atomic<bool>* const seen = alive.get();
    log->shard({0})->SetCommittedListener([seen](LogIndex) { EXPECT_TRUE(seen->load()); });
    log->shard({0})->Append(NumberedEntry(0, round + 1, 100));
    log->shard({0})->SetCommittedListener(nullptr);
    alive->store(false);
  }
  EXPECT_TRUE(log->Close().ok());
}

TEST(SharedLogThreads, CutSuffixWaitsForTheGroupInFlight) {
  tests::SimulatedFileSystem disk(1);
  SharedLogOptions options = SmallLogOptions(&disk);
  options.threads = true;
  auto log = OpenLog(options);
  uint64_t next = 1;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 5; ++i) log->shard({0})->Append(NumberedEntry(0, next++, 100));
    const absl::Status cut = log->shard({0})->CutSuffix({next - 1});
    if (cut.ok()) {
      --next;
    } else {
      EXPECT_EQ(CodeOf(cut), ErrorCode::kIllegalOperation);
      EXPECT_EQ(log->shard({0})->committed(), LogIndex{next - 1});
    }
  }
  EXPECT_TRUE(log->Close().ok());
  EXPECT_EQ(log->shard({0})->committed(), LogIndex{next - 1});
}

}  // namespace
}  // namespace evenkeel::storage
