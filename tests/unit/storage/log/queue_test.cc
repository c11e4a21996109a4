// The queue in front of the log thread: turns, bounds, cutting.
#include "storage/log/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace evenkeel::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void Push(LogQueue* queue, uint32_t shard, uint64_t index, size_t bytes) {
  PendingEntry pending{.shard = {shard}, .record_bytes = bytes};
  pending.entry.index = {index};
  queue->Push(std::move(pending));
}

std::vector<std::string> Names(const std::vector<PendingEntry>& group) {
  std::vector<std::string> names;
  for (const PendingEntry& pending : group) {
    names.push_back(std::to_string(pending.shard.value) + ":" +
                    std::to_string(pending.entry.index.value));
  }
  return names;
}

TEST(LogQueue, ShardsTakeTurns) {
  LogQueue queue;
  for (uint64_t i = 1; i <= 4; ++i) Push(&queue, 0, i, 100);
  Push(&queue, 1, 1, 100);
  Push(&queue, 2, 1, 100);
  Push(&queue, 2, 2, 100);
  EXPECT_THAT(Names(queue.TakeGroup(1000, 1000)),
              ElementsAre("0:1", "1:1", "2:1", "0:2", "2:2", "0:3", "0:4"));
  EXPECT_TRUE(queue.empty());
}

TEST(LogQueue, TheNextGroupBeginsWithTheNextShard) {
  LogQueue queue;
  for (uint64_t i = 1; i <= 3; ++i) {
    Push(&queue, 0, i, 100);
    Push(&queue, 1, i, 100);
  }
  EXPECT_THAT(Names(queue.TakeGroup(300, 1000)), ElementsAre("0:1", "1:1", "0:2"));
  EXPECT_THAT(Names(queue.TakeGroup(300, 1000)), ElementsAre("1:2", "0:3", "1:3"));
}

TEST(LogQueue, ALargeEntryGoesAlone) {
  LogQueue queue;
  Push(&queue, 0, 1, 5000);
  Push(&queue, 1, 1, 10);
  EXPECT_THAT(Names(queue.TakeGroup(1000, 9000)), ElementsAre("0:1"));
  EXPECT_THAT(Names(queue.TakeGroup(1000, 9000)), ElementsAre("1:1"));
}

TEST(LogQueue, TheRoomIsNeverExceeded) {
  LogQueue queue;
  Push(&queue, 0, 1, 600);
  Push(&queue, 1, 1, 600);
  EXPECT_THAT(Names(queue.TakeGroup(4000, 500)), IsEmpty());
  EXPECT_THAT(Names(queue.TakeGroup(4000, 1000)), ElementsAre("0:1"));
  EXPECT_THAT(Names(queue.TakeGroup(4000, 600)), ElementsAre("1:1"));
}

TEST(LogQueue, CutsTheSuffixOfOneShard) {
  LogQueue queue;
  for (uint64_t i = 5; i <= 8; ++i) Push(&queue, 0, i, 100 + i);
  Push(&queue, 1, 7, 50);
  const LogQueue::Cut cut = queue.CutSuffix({0}, {7});
  EXPECT_EQ(cut.count, 2u);
  EXPECT_EQ(cut.bytes, 107u + 108u);
  EXPECT_EQ(queue.CutSuffix({3}, {1}).count, 0u);
  EXPECT_THAT(Names(queue.TakeGroup(4000, 4000)), ElementsAre("0:5", "1:7", "0:6"));
}

TEST(LogQueue, ClearDropsEverything) {
  LogQueue queue;
  Push(&queue, 0, 1, 1);
  queue.Clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_THAT(Names(queue.TakeGroup(10, 10)), IsEmpty());
}

}  // namespace
}  // namespace evenkeel::storage
