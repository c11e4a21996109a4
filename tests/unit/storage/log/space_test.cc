// The promise of LogSpace: what it lets in fits, in whatever order the records come.
#include "storage/log/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace evenkeel::storage {
namespace {

// Places the records one after another, as the log does. False when one finds no room.
bool AllFit(const std::vector<size_t>& records, uint64_t rest, size_t ready_count,
            uint64_t segment) {
  for (const size_t record : records) {
    while (record > rest) {
      if (ready_count == 0) return false;
      --ready_count;
      rest = segment;
    }
    rest -= record;
  }
  return true;
}

TEST(LogSpace, WhatIsLetInFits) {
  constexpr uint64_t kSegmentBytes = 1000;
  base::Random random(1);
  for (int run = 0; run < 2000; ++run) {
    LogSpace space;
    const size_t ready_count = random.Uniform(4);
    const uint64_t rest = random.Uniform(kSegmentBytes + 1);
    const LogRoom room{
        .rest_bytes = rest, .ready_bytes = ready_count * kSegmentBytes, .ready_count = ready_count};
    const size_t record_max = 1 + random.Uniform(kSegmentBytes);
    std::vector<size_t> records;
    for (int i = 0; i < 200; ++i) {
      const size_t record = 1 + random.Uniform(record_max);
      if (!space.Fits(record, record, 1, room)) continue;
      space.Owe(record, record, 1);
      records.push_back(record);
    }
    for (int order = 0; order < 5; ++order) {
      ASSERT_TRUE(AllFit(records, rest, ready_count, kSegmentBytes)) << "run " << run;
      for (size_t i = records.size(); i > 1; --i) {
        std::swap(records[i - 1], records[random.Uniform(i)]);
      }
    }
  }
}

TEST(LogSpace, ARaisedReservationCountsAsOneRecord) {
  LogSpace space;
  const LogRoom room{.rest_bytes = 100, .ready_bytes = 1000, .ready_count = 1};
  space.Owe(50, 50, 1);
  EXPECT_TRUE(space.Fits(450, 500, 0, room));
  EXPECT_TRUE(space.Fits(650, 700, 0, room));
  EXPECT_FALSE(space.Fits(650, 700, 1, room));
}

TEST(LogSpace, RecordsAsLargeAsSegmentsNeedOneEach) {
  LogSpace space;
  LogRoom room{.rest_bytes = 600};
  for (size_t count = 1; count < 5; ++count) {
    EXPECT_FALSE(space.Fits(999, 999, 1, room));
    room.ready_bytes += 1000;
    ++room.ready_count;
    EXPECT_TRUE(space.Fits(999, 999, 1, room));
    space.Owe(999, 999, 1);
  }
  space.Settle(999, 1);
  EXPECT_TRUE(space.Fits(999, 999, 1, room));
}

TEST(LogSpace, SettlingGivesTheRoomBack) {
  LogSpace space;
  const LogRoom room{.rest_bytes = 100};
  space.Owe(100, 100, 1);
  EXPECT_FALSE(space.Fits(1, 1, 1, room));
  space.Settle(60, 0);
  EXPECT_TRUE(space.Fits(60, 60, 1, room));
  EXPECT_EQ(space.owed_bytes(), 40u);
}

}  // namespace
}  // namespace evenkeel::storage
