// Tests of the wall clocks and the hybrid logical clock.
#include "base/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "base/thread.h"

namespace evenkeel::base {
namespace {

constexpr uint32_t kStart = 1'700'000'000;

class HybridClockTest : public ::testing::Test {
 protected:
  FakeWallClock wall_{absl::FromUnixSeconds(kStart)};
  HybridClock clock_{&wall_, absl::Seconds(10)};
};

TEST(WallClockTest, SystemClockIsSane) {
  EXPECT_GT(WallClock::System()->Now(), absl::FromUnixSeconds(kStart));
  EXPECT_EQ(WallClock::System(), WallClock::System());
}

TEST(WallClockTest, FakeClockMovesByHand) {
  FakeWallClock wall(absl::FromUnixSeconds(5));
  wall.Advance(absl::Seconds(2));
  EXPECT_EQ(wall.Now(), absl::FromUnixSeconds(7));
}

TEST_F(HybridClockTest, StartsAtTheWallSecond) {
  EXPECT_EQ(clock_.Now(), Timestamp::FromParts(kStart, 0));
  EXPECT_EQ(clock_.Now(), Timestamp::FromParts(kStart, 0));
}

TEST_F(HybridClockTest, TicksRise) {
  EXPECT_EQ(clock_.Tick(), Timestamp::FromParts(kStart, 1));
  EXPECT_EQ(clock_.Tick(), Timestamp::FromParts(kStart, 2));
  EXPECT_EQ(clock_.Now(), Timestamp::FromParts(kStart, 2));
  wall_.Advance(absl::Seconds(3));
  EXPECT_EQ(clock_.Tick(), Timestamp::FromParts(kStart + 3, 1));
}

TEST_F(HybridClockTest, GoesOnWhenTheWallClockSteppedBack) {
  const Timestamp before = clock_.Tick();
  wall_.Advance(absl::Seconds(-100));
  EXPECT_GT(clock_.Tick(), before);
}

TEST_F(HybridClockTest, TicksAboveObserved) {
  const Timestamp seen = Timestamp::FromParts(kStart + 1000, 7);
  clock_.Observe(seen);
  EXPECT_EQ(clock_.Now(), seen);
  EXPECT_EQ(clock_.Tick(), Timestamp::FromParts(kStart + 1000, 8));
  clock_.Observe(Timestamp::FromParts(1, 1));
  EXPECT_EQ(clock_.Now(), Timestamp::FromParts(kStart + 1000, 8));
}

TEST_F(HybridClockTest, CarriesIncrementIntoSeconds) {
  clock_.Observe(Timestamp::FromParts(kStart + 1, UINT32_MAX));
  EXPECT_EQ(clock_.Tick(), Timestamp::FromParts(kStart + 2, 0));
}

TEST_F(HybridClockTest, RefusesTimestampsTooFarAhead) {
  EXPECT_TRUE(clock_.ObserveUntrusted(Timestamp::FromParts(kStart + 10, 5)).ok());
  EXPECT_EQ(clock_.Now(), Timestamp::FromParts(kStart + 10, 5));
  // The own clock counts as reference too.
  const absl::Status refused = clock_.ObserveUntrusted(Timestamp::FromParts(kStart + 21, 0));
  EXPECT_EQ(static_cast<int>(CodeOf(refused)), 189);
  EXPECT_EQ(clock_.Now(), Timestamp::FromParts(kStart + 10, 5));
  EXPECT_TRUE(clock_.ObserveUntrusted(Timestamp::FromParts(kStart + 20, 0)).ok());
  EXPECT_FALSE(clock_.ObserveUntrusted(kTimestampMax).ok());
}

TEST_F(HybridClockTest, ThreadsNeverGetTheSameTick) {
  constexpr int kThreads = 4;
  constexpr int kTicks = 500;
  std::vector<std::vector<Timestamp>> ticks(kThreads);
  {
    std::vector<Thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back("ticker", [this, &mine = ticks[static_cast<size_t>(t)]] {
        for (int i = 0; i < kTicks; ++i) mine.push_back(clock_.Tick());
      });
    }
  }
  std::vector<Timestamp> all;
  for (const auto& mine : ticks) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.size(), size_t{kThreads * kTicks});
}

}  // namespace
}  // namespace evenkeel::base
