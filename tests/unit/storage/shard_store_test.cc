// The store as a whole, on a log and a checkpoint store in memory: basics, errors, recovery, space.
#include "storage/shard_store.h"

#include <gtest/gtest.h>

#include "base/fail_point.h"
#include "storage/batch_codec.h"
#include "tests/lib/store_harness.h"
#include "tests/lib/temp_folder.h"

namespace evenkeel::storage {
namespace {

using tests::StoreHarness;

TEST(ShardStore, ReadsWhatWasWritten) {
  StoreHarness h;
  h.Open();
  EXPECT_EQ(h.GetLatest("a"), "-");
  const Timestamp first = h.Put("a", "1");
  EXPECT_EQ(h.GetLatest("a"), "1");
  EXPECT_EQ(h.store->latest(), first);
  h.Put("a", "2");
  h.Remove("b");
  EXPECT_EQ(h.GetLatest("a"), "2");
  h.Remove("a");
  EXPECT_EQ(h.GetLatest("a"), "-");
}

TEST(ShardStore, CheckpointedDataIsReadFromLmdb) {
  StoreHarness h;
  h.Open();
  const Timestamp written = h.Put("a", "1");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  EXPECT_EQ(h.GetLatest("a"), "1");
  EXPECT_EQ(h.store->Read().Get(Table::kDocs, "a")->commit_timestamp, written);
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(Table::kDocs)).size(), 1u);
  h.Remove("a");
  EXPECT_EQ(h.GetLatest("a"), "-");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(Table::kDocs)).size(), 0u);
}

TEST(ShardStore, RestartsFromTheLogAndFromLmdb) {
  StoreHarness h;
  h.Open();
  h.Put("a", "1");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  h.Put("b", "2");
  h.Crash();
  EXPECT_EQ(h.GetLatest("a"), "1");
  EXPECT_EQ(h.GetLatest("b"), "2");
  h.Restart();
  EXPECT_EQ(h.GetLatest("a"), "1");
  EXPECT_EQ(h.GetLatest("b"), "2");
  EXPECT_EQ(h.log.first_index().value, h.log.committed().value + 1);
}

TEST(ShardStore, RecoveryLargerThanMemoryGoesThroughLmdb) {
  StoreHarness h;
  h.Open();
  for (int i = 0; i < 200; ++i) h.Put("k" + std::to_string(i), std::string(500, 'v'));
  h.options.table_bytes_max = 5000;
  h.Crash();
  EXPECT_GT(h.store->Stats().checkpoints, 5u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(h.GetLatest("k" + std::to_string(i)).size(), 500u);
}

TEST(ShardStore, AUnitHasItsOwnTimestamp) {
  StoreHarness h;
  h.Open();
  std::vector<Timestamp> stamps;
  ASSERT_TRUE(h.Write([&](WriteContext& context) {
                 context.Put(Table::kDocs, "a", "1");
                 stamps.push_back(context.timestamp());
                 context.Put(Table::kDocs, "b", "1");
                 stamps.push_back(context.timestamp());
                 context.NextUnit();
                 context.Put(Table::kDocs, "c", "1");
                 stamps.push_back(context.timestamp());
               }).ok());
  EXPECT_EQ(stamps[0], stamps[1]);
  EXPECT_LT(stamps[1], stamps[2]);
  EXPECT_EQ(h.last_timestamp, stamps[2]);
  const auto slice = h.store->Read();
  EXPECT_EQ(slice.Get(Table::kDocs, "b")->commit_timestamp, stamps[0]);
  EXPECT_EQ(slice.Get(Table::kDocs, "c")->commit_timestamp, stamps[2]);
  EXPECT_EQ(h.log.entries().back().first_timestamp, stamps[0]);
  EXPECT_EQ(h.log.entries().back().last_timestamp, stamps[2]);
}

class NumberState final : public PublishedState {
 public:
  explicit NumberState(int value) : number(value) {}
  const int number;
};

int NumberOf(const PublishedState* state) {
  return state == nullptr ? -1 : static_cast<const NumberState*>(state)->number;
}

TEST(ShardStore, WhatIsTakenBackNeverHappened) {
  StoreHarness h;
  h.Open();
  h.Put("a", "old");
  ASSERT_TRUE(h.Write([&](WriteContext& context) {
                 context.SetState(std::make_shared<NumberState>(1));
                 context.AddToCounter("c", {1, 10});
                 const size_t mark = context.Mark();
                 context.Put(Table::kDocs, "a", "new");
                 context.Put(Table::kDocs, "b", "new");
                 context.AddToCounter("c", {5, 50});
                 context.RemoveRange(Table::kDocs, {"a", "z"});
                 context.SetState(std::make_shared<NumberState>(2));
                 EXPECT_EQ(context.Counter("c"), (Count{6, 60}));
                 context.RollBackTo(mark);
                 EXPECT_EQ(context.Get(Table::kDocs, "a")->value, "old");
                 EXPECT_FALSE(context.Get(Table::kDocs, "b").has_value());
                 EXPECT_EQ(context.Counter("c"), (Count{1, 10}));
                 EXPECT_EQ(NumberOf(context.state().get()), 1);
               }).ok());
  EXPECT_EQ(NumberOf(h.store->Read().state()), 1);
  EXPECT_EQ(h.store->Read().Counter("c"), (Count{1, 10}));
  h.Crash();
  EXPECT_EQ(h.GetLatest("a"), "old");
  EXPECT_EQ(h.store->Read().Counter("c"), (Count{1, 10}));
  ASSERT_TRUE(h.store->FinishRemovals().ok());
  EXPECT_EQ(h.GetLatest("a"), "old");
}

TEST(ShardStore, CountersAreExactOverCheckpointsAndCrashes) {
  StoreHarness h;
  h.Open();
  for (int i = 1; i <= 20; ++i) {
    ASSERT_TRUE(h.Write([](WriteContext& context) { context.AddToCounter("c", {1, 7}); }).ok());
    if (i % 3 == 0) {
      h.lmdb->AllowCommits(i % 2);
      (void)h.store->Checkpoint();
    }
    if (i % 5 == 0) h.Crash();
    EXPECT_EQ(h.store->Read().Counter("c"), (Count{i, i * 7}));
  }
  EXPECT_EQ(h.store->Read().Counter("unknown"), Count{});
}

TEST(ShardStore, AFullDiskRefusesWritesThatGrow) {
  StoreHarness h;
  h.Open();
  h.Put("a", std::string(1000, 'x'));
  h.log.SetSpace(600);
  const auto put = [](WriteContext& context) {
    context.Put(Table::kDocs, "b", std::string(1000, 'x'));
  };
  EXPECT_EQ(CodeOf(h.Write(put, 1000)), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(CodeOf(h.Write(put, 10)), ErrorCode::kOutOfDiskSpace) << "it writes more than it says";
  EXPECT_EQ(h.GetLatest("b"), "-");
  EXPECT_EQ(h.GetLatest("a").size(), 1000u);
  EXPECT_TRUE(
      h.Write([](WriteContext& context) { context.Remove(Table::kDocs, "a"); }, 50, true).ok());
  EXPECT_EQ(h.GetLatest("a"), "-");
  h.log.SetSpace(1 << 20);
  EXPECT_TRUE(h.Write(put, 1000).ok());
  h.Crash();
  EXPECT_EQ(h.GetLatest("a"), "-");
  EXPECT_EQ(h.GetLatest("b").size(), 1000u);
}

TEST(ShardStore, InAFullBatchOnlyEssentialOperationsRun) {
  StoreHarness h;
  h.Open();
  std::vector<std::shared_ptr<tests::OpEnd>> ends;
  {
    const base::ScopedFailPoint pause(base::fail_points::storage_writer_before_batch,
                                      base::FailPointMode::Pause());
    ends.push_back(h.Submit([](WriteContext&) {}));
    ASSERT_TRUE(base::fail_points::storage_writer_before_batch.WaitForHits(1, absl::Seconds(20)));
    h.log.SetSpace(500);
    const auto put = [](WriteContext& context) { context.Put(Table::kDocs, "k", "v"); };
    ends.push_back(h.Submit(put, 400));
    ends.push_back(h.Submit(put, 100, true));
    ends.push_back(h.Submit(put, 400));
  }
  for (const auto& end : ends) end->done.WaitForNotification();
  EXPECT_EQ(CodeOf(ends[1]->status), ErrorCode::kOutOfDiskSpace);
  EXPECT_TRUE(ends[2]->status.ok());
  EXPECT_EQ(CodeOf(ends[3]->status), ErrorCode::kOutOfDiskSpace);
}

TEST(ShardStore, ReadsThatNeedABoundFailWhenNothingCanBeLogged) {
  StoreHarness h;
  h.Open();
  h.Put("a", "1");
  h.log.SetSpace(0);
  EXPECT_EQ(CodeOf(h.WaitReadable(Timestamp::FromParts(h.clock.Now().seconds() + 9, 0))),
            ErrorCode::kOutOfDiskSpace);
  EXPECT_TRUE(h.WaitReadable(h.store->latest()).ok());
}

TEST(ShardStore, PendingBytesAreBounded) {
  StoreHarness h;
  h.options.pending_bytes_max = 10'000;
  h.Open();
  h.log.Hold(true);
  std::vector<std::shared_ptr<tests::OpEnd>> ends;
  const auto put = [](WriteContext& context) { context.Put(Table::kDocs, "k", "v"); };
  for (int i = 0; i < 20; ++i) ends.push_back(h.Submit(put, 1000));
  EXPECT_EQ(CodeOf(ends.back()->status), ErrorCode::kExceededTimeLimit);
  EXPECT_GT(h.store->Stats().pending_bytes, 0u);
  h.log.Hold(false);
  for (const auto& end : ends) end->done.WaitForNotification();
  EXPECT_EQ(h.store->Stats().pending_bytes, 0u);
  EXPECT_TRUE(h.Write(put, 1000).ok());
}

TEST(ShardStore, AfterCloseNothingIsTaken) {
  StoreHarness h;
  h.Open();
  const auto end = h.Submit([](WriteContext& context) { context.Put(Table::kDocs, "a", "1"); });
  ASSERT_TRUE(h.store->Close().ok());
  EXPECT_TRUE(end->done.HasBeenNotified() && end->status.ok());
  EXPECT_EQ(CodeOf(h.Write([](WriteContext&) {})), ErrorCode::kShutdownInProgress);
  EXPECT_EQ(CodeOf(h.store->Checkpoint()), ErrorCode::kShutdownInProgress);
  EXPECT_EQ(CodeOf(h.store->Close()), ErrorCode::kShutdownInProgress);
  EXPECT_EQ(CodeOf(h.WaitReadable(Timestamp{kTimestampMax.bits - 1})),
            ErrorCode::kShutdownInProgress);
  EXPECT_EQ(h.GetLatest("a"), "1");
}

TEST(ShardStore, DoesNotStartOnALogThatDoesNotFit) {
  StoreHarness h;
  h.Open();
  h.Put("a", "1");
  h.Put("b", "1");
  h.Restart();
  h.store.reset();
  tests::FakeShardLog other;
  const auto opened = ShardStore::Open(h.options, &other, &h.clock);
  EXPECT_EQ(CodeOf(opened.status()), ErrorCode::kUnknownError);
}

TEST(ShardStore, N3_ChecksStoredDocuments) {
  StoreHarness h;
  h.Open();
  for (int i = 0; i < 2500; ++i)
    (void)h.Submit([i](WriteContext& context) {
      context.Put(Table::kDocs, "k" + std::to_string(10'000 + i), "value");
    });
  ASSERT_TRUE(h.store->Checkpoint().ok());
  std::string stored = h.lmdb->Content(DatabaseOf(Table::kDocs))["k11234"];
  stored.back() ^= 1;
  h.lmdb->Damage(DatabaseOf(Table::kDocs), "k11234", stored);
  const auto check = h.store->CheckDocs("k10001", "");
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->checked, 2499u);
  EXPECT_EQ(check->damaged_keys, std::vector<std::string>{"k11234"});
  EXPECT_EQ(h.store->CheckDocs("k10000", "k10002")->checked, 2u);
}

TEST(ShardStore, OldTablesAreCheckpointed) {
  StoreHarness h;
  h.options.table_age_max = absl::Milliseconds(5);
  h.Open();
  h.Put("a", "1");
  while (h.store->Stats().checkpointed < h.log.committed()) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(h.log.first_index().value, h.log.committed().value + 1);
}

TEST(ShardStore, WorksOnRealLmdb) {
  const tests::TempFolder folder;
  StoreHarness h;
  h.options.checkpoint_store = nullptr;
  h.options.folder = folder.path() + "/shard0";
  h.options.map_bytes = uint64_t{1} << 30;
  h.options.table_bytes_max = 20'000;
  h.options.reserve_bytes = 1 << 20;
  h.Open();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 300; ++i) {
      (void)h.Submit([=](WriteContext& context) {
        context.Put(Table::kDocs, "k" + std::to_string(i), "v" + std::to_string(round));
        context.AddToCounter("c", {1, 1});
      });
    }
    ASSERT_TRUE(h.store->Compact().ok());
    EXPECT_EQ(h.GetLatest("k7"), "v" + std::to_string(round));
    h.Restart();
    EXPECT_EQ(h.GetLatest("k299"), "v" + std::to_string(round));
    EXPECT_EQ(h.store->Read().Counter("c").documents, 300 * (round + 1));
  }
  StoreHarness second;
  second.options = h.options;
  EXPECT_EQ(CodeOf(second.TryOpen()), ErrorCode::kOperationFailed) << "in use";
  EXPECT_GT(h.store->Stats().lmdb_bytes, 0u);
}

}  // namespace
}  // namespace evenkeel::storage
