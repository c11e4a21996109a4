// The list of segments: where entries lie, what may go, how much room there is.
#include "storage/log/segment_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/simulated_file_system.h"

namespace evenkeel::storage {
namespace {

constexpr uint64_t kCapacity = 256 << 10;

class LogSegmentListTest : public testing::Test {
 protected:
  std::shared_ptr<LogSegment> MakeSegment(uint64_t number) {
    auto file = *files_.Open("f" + std::to_string(number), /*create=*/true);
    EXPECT_TRUE(file->Allocate(kCapacity).ok());
    return std::make_shared<LogSegment>(LogSegmentHeader{.number = number}, "", std::move(file));
  }

  static void Note(LogSegment* segment, uint32_t shard, uint64_t index, uint64_t offset) {
    segment->NoteEntry({.shard = {shard},
                        .index = {index},
                        .last_timestamp = Timestamp::FromParts(static_cast<uint32_t>(index), 0)},
                       offset);
  }

  // Segment 4: entries 10 to 19 of shard 0; 5: 20 to 29 of shard 0 and 1 to 5 of shard 1; 6: 30 of
  // shard 0. 7 is ready.
  void SetUp() override {
    RecoveredLog log;
    for (uint64_t number = 4; number <= 6; ++number) log.segments.push_back(MakeSegment(number));
    log.ready.push_back(MakeSegment(7));
    for (uint64_t i = 0; i < 10; ++i) {
      Note(log.segments[0].get(), 0, 10 + i, 1000 + i * 20'000);
      Note(log.segments[1].get(), 0, 20 + i, 1000 + i * 20'000);
      if (i < 5) Note(log.segments[1].get(), 1, 1 + i, 11'000 + i * 20'000);
    }
    Note(log.segments[2].get(), 0, 30, 1000);
    log.end = LogPosition::At(6, 2000);
    list_.Start(std::move(log));
  }

  tests::SimulatedFileSystem files_{1};
  LogSegmentList list_;
};

TEST_F(LogSegmentListTest, FindsTheFirstEntry) {
  EXPECT_EQ(list_.FirstIndex({0}), LogIndex{10});
  EXPECT_EQ(list_.FirstIndex({1}), LogIndex{1});
  EXPECT_EQ(list_.FirstIndex({2}), std::nullopt);
}

TEST_F(LogSegmentListTest, PlansAReadFromTheNearestMark) {
  const auto plan = list_.PlanRead({0}, {17});
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[0].segment->number(), 4u);
  EXPECT_EQ(plan[0].offset, 1000u + 4 * 20'000);
  EXPECT_EQ(plan[0].last, LogIndex{19});
  EXPECT_EQ(plan[2].offset, 1000u);
  EXPECT_EQ(plan[2].last, LogIndex{30});
  EXPECT_EQ(list_.PlanRead({1}, {3}).size(), 1u);
  EXPECT_TRUE(list_.PlanRead({0}, {31}).empty());
}

TEST_F(LogSegmentListTest, FindsByTimestampNeverTooLate) {
  for (uint32_t seconds = 0; seconds <= 30; ++seconds) {
    const auto found = list_.FindByTimestamp({0}, Timestamp::FromParts(seconds, 0));
    ASSERT_TRUE(found.has_value()) << seconds;
    EXPECT_LE(found->value, std::max<uint64_t>(10, seconds)) << seconds;
    EXPECT_GE(found->value + 4, std::max<uint64_t>(10, seconds)) << seconds;
  }
  EXPECT_EQ(list_.FindByTimestamp({0}, Timestamp::FromParts(31, 0)), std::nullopt);
}

TEST_F(LogSegmentListTest, HeldBackBytesBeginWithTheFirstNeededSegment) {
  EXPECT_EQ(list_.HeldBackBytes({0}, {0}), 2 * kCapacity + 2000);
  EXPECT_EQ(list_.HeldBackBytes({0}, {19}), kCapacity + 2000);
  EXPECT_EQ(list_.HeldBackBytes({0}, {29}), 2000u);
  EXPECT_EQ(list_.HeldBackBytes({0}, {30}), 0u);
  EXPECT_EQ(list_.HeldBackBytes({1}, {4}), kCapacity + 2000);
  EXPECT_EQ(list_.HeldBackBytes({2}, {0}), 0u);
}

TEST_F(LogSegmentListTest, TheOldestGoesWhenNobodyNeedsIt) {
  const auto up_to = [](uint64_t index) { return [=](ShardId) { return LogIndex{index}; }; };
  const LogPosition durable = LogPosition::At(6, 2000);
  EXPECT_FALSE(list_.CanDropOldest(durable, up_to(18)));
  EXPECT_TRUE(list_.CanDropOldest(durable, up_to(19)));
  EXPECT_EQ(list_.DropOldest()->number(), 4u);
  EXPECT_FALSE(list_.CanDropOldest(durable, up_to(28)));
  EXPECT_TRUE(list_.CanDropOldest(durable, up_to(29)));
  EXPECT_EQ(list_.FirstIndex({0}), LogIndex{20});
}

TEST_F(LogSegmentListTest, TheOldestStaysUntilTheNextHasADurableStart) {
  const auto all = [](ShardId) { return LogIndex{1000}; };
  EXPECT_FALSE(list_.CanDropOldest(LogPosition::At(4, kCapacity), all));
  EXPECT_TRUE(list_.CanDropOldest(LogPosition::At(5, 600), all));
}

TEST_F(LogSegmentListTest, TheLastSegmentNeverGoes) {
  list_.DropOldest();
  list_.DropOldest();
  EXPECT_FALSE(list_.CanDropOldest(LogPosition::At(6, 2000), [](ShardId) { return LogIndex{99}; }));
}

TEST_F(LogSegmentListTest, RotatesIntoReadySegments) {
  EXPECT_EQ(list_.next_number(), 8u);
  ASSERT_TRUE(list_.Rotate());
  EXPECT_EQ(list_.current().number(), 7u);
  EXPECT_TRUE(list_.AtStart());
  EXPECT_EQ(list_.end(), LogPosition::At(7, kLogFirstRecordOffset));
  list_.Advance(100);
  EXPECT_FALSE(list_.AtStart());
  EXPECT_FALSE(list_.Rotate());
  EXPECT_EQ(list_.next_number(), 8u);
}

TEST_F(LogSegmentListTest, RoomLeavesOutStartsAndClosings) {
  const LogRoom room = list_.Room(/*start_bytes=*/80, /*closing_bytes=*/64);
  EXPECT_EQ(room.rest_bytes, kCapacity - 2000 - 64);
  EXPECT_EQ(room.ready_count, 1u);
  EXPECT_EQ(room.ready_bytes, kCapacity - kLogFirstRecordOffset - 80 - 64);
  list_.Rotate();
  EXPECT_EQ(list_.Room(80, 64).rest_bytes, kCapacity - kLogFirstRecordOffset - 80 - 64);
}

}  // namespace
}  // namespace evenkeel::storage
