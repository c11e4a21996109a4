// The bucket of bytes that moves take from, on a clock moved by hand.
#include "router/ddl/copy_rate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace evenkeel::router::ddl {
namespace {

class CopyRateTest : public testing::Test {
 protected:
  base::FakeWallClock wall_{absl::FromUnixSeconds(1'700'000'000)};
};

TEST_F(CopyRateTest, WithoutALimitNobodyWaits) {
  CopyRate rate(&wall_, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rate.TryTake(1 << 30), absl::ZeroDuration());
}

TEST_F(CopyRateTest, ABatchMayOverdrawAndTheNextOneWaits) {
  CopyRate rate(&wall_, 1000);
  EXPECT_EQ(rate.TryTake(5000), absl::ZeroDuration());
  EXPECT_EQ(rate.TryTake(1), absl::Seconds(5));
  wall_.Advance(absl::Seconds(2));
  EXPECT_EQ(rate.TryTake(1), absl::Seconds(3));
  wall_.Advance(absl::Seconds(3));
  EXPECT_EQ(rate.TryTake(1), absl::ZeroDuration());
}

TEST_F(CopyRateTest, OverLongTheRateIsKept) {
  CopyRate rate(&wall_, 1'000'000);
  const absl::Time begun = wall_.Now();
  int64_t taken = 0;
  while (taken < 60'000'000) {
    const absl::Duration wait = rate.TryTake(300'000);
    if (wait == absl::ZeroDuration()) {
      taken += 300'000;
    } else {
      wall_.Advance(std::min(wait, absl::Milliseconds(200)));
    }
  }
  EXPECT_NEAR(absl::ToDoubleSeconds(wall_.Now() - begun), 60, 1);
}

TEST_F(CopyRateTest, LittleIsSavedUp) {
  CopyRate rate(&wall_, 1000);
  wall_.Advance(absl::Hours(1));
  EXPECT_EQ(rate.TryTake(250), absl::ZeroDuration());
  EXPECT_EQ(rate.TryTake(1000), absl::ZeroDuration());
  EXPECT_EQ(rate.TryTake(1), absl::Seconds(1));
}

TEST_F(CopyRateTest, ANewRateCountsAtOnce) {
  CopyRate rate(&wall_, 10);
  EXPECT_EQ(rate.TryTake(1000), absl::ZeroDuration());
  EXPECT_EQ(rate.TryTake(1), absl::Seconds(100));
  rate.Set(1000);
  EXPECT_EQ(rate.bytes_per_second(), 1000);
  EXPECT_EQ(rate.TryTake(1), absl::Seconds(1));
  rate.Set(0);
  EXPECT_EQ(rate.TryTake(1 << 30), absl::ZeroDuration());
  rate.Set(1000);
  EXPECT_EQ(rate.TryTake(1), absl::ZeroDuration());
}

TEST_F(CopyRateTest, AClockThatGoesBackTakesNothingAway) {
  CopyRate rate(&wall_, 1000);
  EXPECT_EQ(rate.TryTake(1000), absl::ZeroDuration());
  wall_.Advance(-absl::Hours(1));
  EXPECT_EQ(rate.TryTake(1), absl::Seconds(1));
  wall_.Advance(absl::Seconds(1));
  EXPECT_EQ(rate.TryTake(1), absl::ZeroDuration());
}

TEST_F(CopyRateTest, AllPauseForATimeByWhatABatchTook) {
  CopyRate rate(&wall_, 0);
  rate.GiveWay(absl::Milliseconds(100));
  EXPECT_EQ(rate.TryTake(1), CopyRate::kGivesWay * absl::Milliseconds(100));
  // Of two that copy at once both are paid for.
  rate.GiveWay(absl::Milliseconds(50));
  EXPECT_EQ(rate.TryTake(1), CopyRate::kGivesWay * absl::Milliseconds(150));
  wall_.Advance(CopyRate::kGivesWay * absl::Milliseconds(150));
  EXPECT_EQ(rate.TryTake(1), absl::ZeroDuration());
  rate.GiveWay(absl::Minutes(1));
  EXPECT_EQ(rate.TryTake(1), CopyRate::kPauseMax);
}

}  // namespace
}  // namespace evenkeel::router::ddl
