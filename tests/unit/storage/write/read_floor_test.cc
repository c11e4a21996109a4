// The read floor: ticks and reads cannot pass each other.
#include "storage/write/read_floor.h"

#include <gtest/gtest.h>

#include "base/thread.h"

namespace evenkeel::storage {
namespace {

class ReadFloorTest : public testing::Test {
 protected:
  base::FakeWallClock wall_{absl::FromUnixSeconds(1000)};
  base::HybridClock clock_{&wall_, absl::Seconds(10)};
  ReadFloor floor_{&clock_, Timestamp{5}};
};

TEST_F(ReadFloorTest, TicksLieAboveWhatWasRead) {
  const Timestamp read = Timestamp::FromParts(2000, 7);
  EXPECT_EQ(floor_.Raise(read), Timestamp{5})
      << "nothing issued since: only the recovered commit must be visible";
  EXPECT_GT(floor_.Tick(), read);
}

TEST_F(ReadFloorTest, AReadWaitsForTicksAtOrBelowIt) {
  const Timestamp tick = floor_.Tick();
  EXPECT_EQ(floor_.Raise(Timestamp{tick.bits + 10}), tick);
  EXPECT_EQ(floor_.Raise(tick), tick);
  EXPECT_EQ(floor_.Raise(Timestamp{tick.bits - 1}), Timestamp{tick.bits - 1});
}

TEST_F(ReadFloorTest, ALowerReadDoesNotLowerTheFloor) {
  const Timestamp high = Timestamp::FromParts(3000, 0);
  floor_.Raise(high);
  floor_.Raise(Timestamp{1});
  EXPECT_GT(floor_.Tick(), high);
}

// Second round, case 7: a tick of 99, the clock moved to 105, a read at 100 that sees no executed
// batch, then 99 commits.
TEST_F(ReadFloorTest, SecondRound7_NoCommitAppearsBelowARead) {
  for (int round = 0; round < 200; ++round) {
    Timestamp tick;
    Timestamp must_see;
    const Timestamp at{clock_.Now().bits + 3};
    {
      const base::Thread writer("writer", [&] { tick = floor_.Tick(); });
      const base::Thread other("other", [&] { clock_.Observe(Timestamp{at.bits + 5}); });
      must_see = floor_.Raise(at);
    }
    EXPECT_TRUE(tick > at || tick <= must_see)
        << tick.bits << " at " << at.bits << " told " << must_see.bits;
  }
}

}  // namespace
}  // namespace evenkeel::storage
