// The checkpoint thread: order of its work, failures, requests to freeze.
#include "storage/checkpoint/checkpointer.h"

#include <absl/synchronization/notification.h>
#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "base/thread.h"
#include "tests/lib/fake_checkpoint_store.h"
#include "tests/lib/fake_shard_log.h"

namespace evenkeel::storage {
namespace {

class CheckpointerTest : public testing::Test {
 protected:
  CheckpointerTest() {
    views_.StartAt(LogIndex{}, {});
    // Entries for Forget.
    for (uint64_t i = 1; i <= 10; ++i) log_.Append({.index = LogIndex{i}});
    log_.WaitUntilIdle();
    checkpointer_.Start();
  }
  static std::shared_ptr<const View> EmptyView() {
    auto view = std::make_shared<View>();
    view->tables = std::make_shared<TableList>();
    return view;
  }
  // Freezes a table that ends with batch `index`.
  void Freeze(uint64_t index, const std::string& key) {
    MemTable& active = *views_.Current()->tables->entries.back().table;
    active.Put(Table::kSessions, key, index, "v");
    active.EndBatch(LogIndex{index}, Timestamp{index}, {});
    views_.AddTable(std::make_shared<MemTable>(LogIndex{index + 1}));
    checkpointer_.Notify();
  }
  void Publish(uint64_t index) {
    views_.PublishBatches(LogIndex{index}, Timestamp{index}, nullptr);
    checkpointer_.Published();
  }
  size_t InLmdb() { return lmdb_.Content(DatabaseOf(Table::kSessions)).size(); }

  tests::FakeShardLog log_;
  tests::FakeCheckpointStore lmdb_;
  StoreOptions options_;
  ViewPublisher views_{EmptyView()};
  std::shared_ptr<History> history_ =
      std::make_shared<History>(&views_, size_t{1} << 30, absl::Hours(1));
  DiskReserve reserve_{"", 0};
  Checkpointer checkpointer_{{&options_, &log_, &lmdb_, &views_, history_.get(), &reserve_},
                             EngineState{}};
};

TEST_F(CheckpointerTest, WritesATableWhenItsLastBatchIsDurable) {
  Freeze(2, "a");
  Freeze(4, "b");
  EXPECT_GT(checkpointer_.WaitingBytes(), 0u);
  Publish(3);
  ASSERT_TRUE(checkpointer_.WaitFor(LogIndex{2}).ok());
  EXPECT_EQ(InLmdb(), 1u);
  EXPECT_EQ(checkpointer_.checkpointed(), LogIndex{2});
  Publish(4);
  ASSERT_TRUE(checkpointer_.WaitFor(LogIndex{4}).ok());
  EXPECT_EQ(InLmdb(), 2u);
  EXPECT_EQ(log_.first_index(), LogIndex{5});
  EXPECT_EQ(checkpointer_.WaitingBytes(), 0u);
  EXPECT_EQ(checkpointer_.count(), 2u);
  EXPECT_TRUE(views_.Current()->tables->entries[1].in_lmdb);
}

TEST_F(CheckpointerTest, TellsWhoWaitsWhyItFailed) {
  lmdb_.AllowCommits(0);
  Freeze(2, "a");
  Publish(2);
  EXPECT_EQ(CodeOf(checkpointer_.WaitFor(LogIndex{2})), ErrorCode::kOutOfDiskSpace);
  lmdb_.AllowCommits(10);
  EXPECT_TRUE(checkpointer_.WaitFor(LogIndex{2}).ok())
      << "the next caller gets a new attempt at once";
}

TEST_F(CheckpointerTest, StopEndsWhoWaits) {
  absl::Status status;
  {
    const base::Thread waiter("waiter", [&] { status = checkpointer_.WaitFor(LogIndex{9}); });
    checkpointer_.Stop();
  }
  EXPECT_EQ(CodeOf(status), ErrorCode::kShutdownInProgress);
  EXPECT_EQ(CodeOf(checkpointer_.Compact()), ErrorCode::kShutdownInProgress);
}

TEST_F(CheckpointerTest, AsksForAFreezeWhenTheLogIsHeldBack) {
  absl::Notification asked;
  log_.SetHeldBackBytes(uint64_t{1} << 40);
  checkpointer_.WatchActive([] { return absl::Now(); },
                            [&] {
                              if (!asked.HasBeenNotified()) asked.Notify();
                            });
  checkpointer_.Notify();
  asked.WaitForNotification();
  checkpointer_.Stop();
}

TEST_F(CheckpointerTest, AnEmptyTableIsNotFrozen) {
  bool asked = false;
  log_.SetHeldBackBytes(uint64_t{1} << 40);
  checkpointer_.WatchActive([] { return absl::InfiniteFuture(); }, [&] { asked = true; });
  checkpointer_.Notify();
  EXPECT_TRUE(checkpointer_.Compact().ok());
  checkpointer_.Stop();
  EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace evenkeel::storage
