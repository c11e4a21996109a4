// The cases of the design review that concern the store of one shard, each as a test that a simpler
// rule fails.
#include <gtest/gtest.h>

#include "base/fail_point.h"
#include "base/thread.h"
#include "storage/shard_store.h"
#include "tests/lib/store_harness.h"

namespace evenkeel::storage {
namespace {

using tests::StoreHarness;

constexpr auto kDocs = Table::kDocs;

TEST(Counterexamples, M1_SnapshotsOlderThanTheNewestCheckpoint) {
  StoreHarness h;
  h.Open();
  const Timestamp t100 = h.Put("k", "100");
  h.Put("only at first", "x");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  const Timestamp t120 = h.Put("k", "120");
  const Timestamp t130 = h.Put("inserted", "130");
  h.Put("k", "180");
  h.Remove("only at first");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  h.Put("k", "300");
  h.Remove("inserted");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  EXPECT_EQ(h.GetAt(t120, "k"), "120");
  EXPECT_EQ(h.GetAt(t120, "inserted"), "-");
  EXPECT_EQ(h.GetAt(t120, "only at first"), "x");
  EXPECT_EQ(h.GetAt(t130, "inserted"), "130");
  EXPECT_EQ(h.GetAt(t100, "k"), "100");
  EXPECT_EQ(h.GetLatest("k"), "300");
  EXPECT_EQ(h.GetLatest("inserted"), "-");
}

TEST(Counterexamples, M1_ARemovalIsAConflictAlsoAfterItsCheckpoint) {
  StoreHarness h;
  h.Open();
  h.Put("x", "seen");
  const Timestamp snapshot = h.store->latest();
  h.Remove("x");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  ASSERT_TRUE(h.store->Checkpoint().ok());
  ASSERT_TRUE(h.Write([&](WriteContext& context) {
                 EXPECT_TRUE(context.ChangedSince(kDocs, "x", snapshot));
                 EXPECT_FALSE(context.ChangedSince(kDocs, "y", snapshot));
                 EXPECT_FALSE(context.ChangedSince(kDocs, "x", h.store->latest()));
               }).ok());
  h.Restart();
  ASSERT_TRUE(h.Write([&](WriteContext& context) {
                 EXPECT_TRUE(context.ChangedSince(kDocs, "y", snapshot)) << "nobody knows any more";
               }).ok());
}

TEST(Counterexamples, M1_HistoryEndsWithTheBudgetAndWithTheProcess) {
  StoreHarness h;
  h.options.history_bytes_max = 50'000;
  h.Open();
  const Timestamp old = h.Put("k", "old");
  const auto snapshot = h.store->OpenSnapshot(old);
  ASSERT_TRUE(snapshot.ok());
  for (int i = 0; i < 5; ++i) {
    h.Put("k", std::string(30'000, 'x'));
    ASSERT_TRUE(h.store->Checkpoint().ok());
  }
  const Timestamp last = h.store->latest();
  // The checkpoint thread trims behind the last checkpoint.
  while (h.store->Stats().history_bytes > 50'000) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(h.GetAt(old, "k"), "SnapshotTooOld");
  EXPECT_EQ(CodeOf(h.store->OpenSnapshot(old).status()), ErrorCode::kSnapshotTooOld);
  EXPECT_EQ(h.GetAt(last, "k").size(), 30'000u);
  h.Put("k", "new");
  h.Restart();
  EXPECT_EQ(h.GetAt(last, "k"), "SnapshotTooOld");
  EXPECT_EQ(h.GetAt(h.store->latest(), "k"), "new");
}

TEST(Counterexamples, M5_NoAnswerRestsOnWhatIsNotDurable) {
  StoreHarness h;
  h.Open();
  h.log.Hold(true);
  const auto insert = h.Submit([](WriteContext& context) { context.Put(kDocs, "id1", "x"); });
  absl::Notification executed;
  const auto duplicate = h.Submit([&](WriteContext& context) {
    EXPECT_TRUE(context.Get(kDocs, "id1").has_value()) << "the writer sees what is not durable yet";
    executed.Notify();
  });
  executed.WaitForNotification();
  EXPECT_FALSE(duplicate->done.HasBeenNotified());
  EXPECT_EQ(h.GetLatest("id1"), "-");
  h.Crash();
  EXPECT_EQ(CodeOf(duplicate->status), ErrorCode::kInterruptedAtShutdown);
  EXPECT_EQ(h.GetLatest("id1"), "-");
}

TEST(Counterexamples, M5_AnswersComeInOrderAfterTheirEffectsAreVisible) {
  StoreHarness h;
  h.Open();
  h.log.Hold(true);
  std::vector<std::shared_ptr<tests::OpEnd>> ends;
  for (int i = 0; i < 5; ++i) {
    absl::Notification executed;
    ends.push_back(h.Submit([&, i](WriteContext& context) {
      context.Put(kDocs, "k", std::to_string(i));
      executed.Notify();
    }));
    executed.WaitForNotification();
  }
  while (h.log.last().value < 5) absl::SleepFor(absl::Milliseconds(1));
  h.log.CommitUpTo(LogIndex{3});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ends[i]->done.HasBeenNotified(), i < 3) << i;
  EXPECT_EQ(h.GetLatest("k"), "2");
  h.log.Hold(false);
  ends[4]->done.WaitForNotification();
  EXPECT_EQ(h.GetLatest("k"), "4");
}

TEST(Counterexamples, M13_ARangeIsRemovedWithoutTombstonesOrLogRecords) {
  StoreHarness h;
  h.options.index_entries = [](std::string_view key, std::string_view,
                               std::vector<std::string>* keys) {
    keys->push_back("i" + std::string(key));
  };
  h.Open();
  for (int i = 0; i < 100; ++i) {
    h.Put("c1/" + std::to_string(i), "v");
    h.Put("ic1/" + std::to_string(i), "", Table::kIndex);
  }
  h.Put("c2/1", "kept");
  h.Put("ic2/1", "", Table::kIndex);
  ASSERT_TRUE(h.store->Checkpoint().ok());
  const auto snapshot = h.store->OpenSnapshot(h.store->latest());
  ASSERT_TRUE(snapshot.ok());
  const LogIndex before = h.log.last();
  ASSERT_TRUE(h.Write([](WriteContext& context) {
                 context.RemoveRange(kDocs, {"c1/", "c10"});
               }).ok());
  ASSERT_TRUE(h.store->Checkpoint().ok());
  EXPECT_EQ(h.GetAt((*snapshot)->timestamp(), "c1/50"), "v") << "an open snapshot still needs it";
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(kDocs)).size(), 101u);
  h.Crash();
  ASSERT_TRUE(h.store->FinishRemovals().ok());
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(kDocs)).size(), 1u);
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(Table::kIndex)).size(), 1u);
  EXPECT_LE(h.log.last().value - before.value, 2u);
  EXPECT_EQ(h.GetLatest("c2/1"), "kept");
}

TEST(Counterexamples, SecondRound12_NoRemovalBeforeItsMarkIsInLmdb) {
  StoreHarness h;
  h.Open();
  h.Put("c1/1", "v");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  ASSERT_TRUE(h.Write([](WriteContext& context) {
                 context.RemoveRange(kDocs, {"c1/", "c10"});
               }).ok());
  h.lmdb->AllowCommits(0);
  EXPECT_FALSE(h.store->FinishRemovals().ok());
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(kDocs)).size(), 1u);
  h.Crash();
  h.lmdb->AllowCommits(1);  // the mark, but no step of the removal
  EXPECT_FALSE(h.store->FinishRemovals().ok());
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(kDocs)).size(), 1u);
  h.Crash();
  ASSERT_TRUE(h.store->FinishRemovals().ok());
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(kDocs)).size(), 0u);
}

TEST(Counterexamples, M14_OnlyDurableBatchesReachLmdb) {
  StoreHarness h;
  h.Open();
  h.Put("a", "durable");
  h.log.Hold(true);
  const auto end = h.Submit([](WriteContext& context) { context.Put(kDocs, "b", "not durable"); });
  absl::Status status;
  {
    const base::Thread checkpoint("checkpoint", [&] { status = h.store->Checkpoint(); });
    while (h.store->Stats().frozen_table_bytes == 0) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_EQ(h.lmdb->Content(DatabaseOf(kDocs)).size(), 0u);
    EXPECT_EQ(h.store->Stats().checkpointed, LogIndex{});
    h.log.Hold(false);
  }
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(h.lmdb->Content(DatabaseOf(kDocs)).size(), 2u);
  EXPECT_TRUE(end->done.HasBeenNotified());
}

TEST(Counterexamples, M15_AReadAtTWaitsForWhatIsExecutedAtOrBelowT) {
  StoreHarness h;
  h.Open();
  h.Put("k", "old");
  h.log.Hold(true);
  Timestamp commit;
  absl::Notification executed;
  (void)h.Submit([&](WriteContext& context) {
    context.Put(kDocs, "k", "new");
    commit = context.timestamp();
    executed.Notify();
  });
  executed.WaitForNotification();
  absl::Notification below;
  h.store->WhenReadable(Timestamp{commit.bits - 1}, [&](const absl::Status&) { below.Notify(); });
  EXPECT_TRUE(below.HasBeenNotified());
  EXPECT_EQ(h.GetAt(Timestamp{commit.bits - 1}, "k"), "old");
  absl::Notification at;
  h.store->WhenReadable(commit, [&](const absl::Status&) { at.Notify(); });
  EXPECT_FALSE(at.HasBeenNotified());
  h.log.Hold(false);
  at.WaitForNotification();
  EXPECT_EQ(h.GetAt(commit, "k"), "new");
}

TEST(Counterexamples, M15_AfterARestartTimestampsLieAboveWhatWasServed) {
  StoreHarness h;
  h.Open();
  h.Put("k", "140");
  // A reader whose router's clock is ahead of this process.
  const Timestamp served = Timestamp::FromParts(h.clock.Now().seconds() + 9, 5);
  ASSERT_TRUE(h.WaitReadable(served).ok());
  EXPECT_EQ(h.GetAt(served, "k"), "140");
  const Timestamp resolved = h.store->ResolvedTimestamp();
  // The process starts again with a clock that knows nothing of it.
  h.store.reset();
  base::HybridClock fresh(&h.wall, absl::Seconds(10));
  auto opened = ShardStore::Open(h.options, &h.log, &fresh);
  ASSERT_TRUE(opened.ok());
  h.store = *std::move(opened);
  const Timestamp next = h.Put("k", "151");
  EXPECT_GT(next, served);
  EXPECT_GT(next, resolved);
  EXPECT_EQ(h.GetAt(served, "k"), "140");
  h.store.reset();
}

TEST(Counterexamples, M15_TheBoundSurvivesCheckpointsToo) {
  StoreHarness h;
  h.Open();
  h.Put("k", "1");
  const Timestamp served = Timestamp::FromParts(h.clock.Now().seconds() + 9, 5);
  ASSERT_TRUE(h.WaitReadable(served).ok());
  ASSERT_TRUE(h.store->Close().ok());
  h.store.reset();
  base::HybridClock fresh(&h.wall, absl::Seconds(10));
  auto opened = ShardStore::Open(h.options, &h.log, &fresh);
  ASSERT_TRUE(opened.ok());
  h.store = *std::move(opened);
  EXPECT_GT(h.Put("k", "2"), served);
  h.store.reset();
}

TEST(Counterexamples, M16_ExecutedEffectsAreThrownAwayByReopening) {
  StoreHarness h;
  h.Open();
  ASSERT_TRUE(h.Write([](WriteContext& context) { context.AddToCounter("c", {1, 1}); }).ok());
  h.log.Hold(true);
  for (int i = 0; i < 3; ++i) {
    (void)h.Submit([](WriteContext& context) {
      context.Put(kDocs, "k", "never agreed");
      context.AddToCounter("c", {1, 1});
    });
  }
  h.Crash();
  EXPECT_EQ(h.GetLatest("k"), "-");
  EXPECT_EQ(h.store->Read().Counter("c"), (Count{1, 1}));
  ASSERT_TRUE(h.Write([](WriteContext& context) {
                 EXPECT_EQ(context.Counter("c"), (Count{1, 1}));
                 EXPECT_FALSE(context.Get(kDocs, "k").has_value());
               }).ok());
}

TEST(Counterexamples, SecondRound2_NoNodeMeansLmdbAndNotAbsent) {
  StoreHarness h;
  h.Open();
  const Timestamp t50 = h.Put("k", "50");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  h.Put("k", "100");  // in a table that is not checkpointed, nothing hung on its node
  EXPECT_EQ(h.GetAt(t50, "k"), "50");
}

TEST(Counterexamples, SecondRound2_ACheckpointBetweenViewAndLmdb) {
  StoreHarness h;
  h.Open();
  h.Put("k", "100");
  h.Put("gone", "100");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  const Timestamp t150 = h.Put("other", "150");
  // The reader has its view; before its LMDB transaction begins a newer table is frozen and
  // checkpointed.
  h.lmdb->BeforeNextRead([&] {
    h.Put("k", "300");
    h.Remove("gone");
    EXPECT_TRUE(h.store->Checkpoint().ok());
  });
  EXPECT_EQ(h.GetAt(t150, "k"), "100");
  h.lmdb->BeforeNextRead([&] {
    h.Put("k", "400");
    EXPECT_TRUE(h.store->Checkpoint().ok());
  });
  const ReadSlice slice = h.store->Read();
  EXPECT_EQ(StoreHarness::Get(slice, "k"), slice.timestamp() < h.store->latest() ? "300" : "400");
  EXPECT_EQ(StoreHarness::Get(slice, "gone"), "-");
}

TEST(Counterexamples, SecondRound2_ACheckpointThatStandsHalfway) {
  // 4,000 pages a change: every key is a transaction of its own.
  StoreHarness h(4000);
  h.Open();
  for (const char* key : {"a", "b", "c"}) h.Put(key, "old");
  ASSERT_TRUE(h.store->Checkpoint().ok());
  const Timestamp before = h.store->latest();
  for (const char* key : {"a", "b", "c"}) h.Put(key, "new");
  h.lmdb->AllowCommits(2);
  EXPECT_FALSE(h.store->Checkpoint().ok());
  for (const std::string key : {"a", "b", "c"}) {
    EXPECT_EQ(h.GetAt(before, key), "old") << key;
    EXPECT_EQ(h.GetLatest(key), "new") << key;
  }
  h.Crash();
  for (const std::string key : {"a", "b", "c"}) EXPECT_EQ(h.GetLatest(key), "new") << key;
}

TEST(Counterexamples, SecondRound7_AnIdleShardResolvesAndLaterCommitsLieAbove) {
  StoreHarness h;
  h.Open();
  h.Put("k", "1");
  h.wall.Advance(absl::Seconds(1));
  const Timestamp resolved = h.store->ResolvedTimestamp();
  EXPECT_GT(resolved, h.store->latest());
  EXPECT_GT(h.Put("k", "2"), resolved);
  h.log.Hold(true);
  absl::Notification executed;
  Timestamp commit;
  (void)h.Submit([&](WriteContext& context) {
    context.Put(kDocs, "k", "3");
    commit = context.timestamp();
    executed.Notify();
  });
  executed.WaitForNotification();
  h.wall.Advance(absl::Seconds(1));
  EXPECT_LT(h.store->ResolvedTimestamp(), commit) << "executed, not durable";
  h.log.Hold(false);
}

TEST(Counterexamples, SecondRound1_OneViewHoldsEverythingTogether) {
  class Numbered final : public PublishedState {
   public:
    explicit Numbered(int64_t value) : number(value) {}
    const int64_t number;
  };
  StoreHarness h;
  h.options.table_bytes_max = 4000;
  h.Open();
  std::atomic<bool> done{false};
  const auto read = [&] {
    while (!done.load()) {
      const ReadSlice slice = h.store->Read();
      const auto* state = static_cast<const Numbered*>(slice.state());
      if (state == nullptr) continue;
      const std::string number = std::to_string(state->number);
      ASSERT_EQ(StoreHarness::Get(slice, "a"), number);
      ASSERT_EQ(StoreHarness::Get(slice, "z"), number);
      ASSERT_EQ(slice.Counter("c").documents, state->number);
      ASSERT_EQ(slice.Get(kDocs, "a")->commit_timestamp, slice.timestamp());
    }
  };
  const base::Thread reader("reader", read);
  for (int64_t i = 1; i <= 400; ++i) {
    (void)h.Write([&](WriteContext& context) {
      context.Put(kDocs, "a", std::to_string(i));
      context.Put(kDocs, "z", std::to_string(i));
      context.AddToCounter("c", {1, 0});
      context.SetState(std::make_shared<Numbered>(i));
    });
  }
  done.store(true);
}

}  // namespace
}  // namespace evenkeel::storage
