// The store as a whole, on a log and a checkpoint store in memory.
#include "storage/shard_store.h"

#include <gtest/gtest.h>

#include "tests/lib/store_harness.h"

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

TEST(ShardStore, CrashLosesWhatTheLogHasNotCommitted) {
  StoreHarness h;
  h.Open();
  h.Put("a", "1");
  h.log.Hold(true);
  const auto end = h.Submit([](WriteContext& context) { context.Put(Table::kDocs, "a", "2"); });
  h.Crash();
  EXPECT_TRUE(end->done.HasBeenNotified());
  EXPECT_EQ(CodeOf(end->status), ErrorCode::kInterruptedAtShutdown);
  EXPECT_EQ(h.GetLatest("a"), "1");
}

}  // namespace
}  // namespace evenkeel::storage
