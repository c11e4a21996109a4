// The pace of checkpoints.
#include "storage/checkpoint/pacer.h"

#include <gtest/gtest.h>

namespace evenkeel::storage {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(Pacer, SpreadsAFlushOverTheIntervalOfFreezes) {
  Pacer pacer;
  pacer.Begin(kStart, 0);
  pacer.Begin(kStart + absl::Seconds(10), 0);
  const absl::Time begin = kStart + absl::Seconds(10);
  EXPECT_EQ(pacer.WaitAt(begin, 0, 100), absl::ZeroDuration());
  EXPECT_EQ(pacer.WaitAt(begin, 50, 100), absl::Seconds(3.5));
  EXPECT_EQ(pacer.WaitAt(begin + absl::Seconds(2), 50, 100), absl::Seconds(1.5));
  EXPECT_EQ(pacer.WaitAt(begin + absl::Seconds(5), 50, 100), absl::ZeroDuration());
}

TEST(Pacer, SeldomFreezesDoNotStretchIt) {
  Pacer pacer;
  pacer.Begin(kStart, 0);
  EXPECT_LE(pacer.WaitAt(kStart, 100, 100), absl::Seconds(20));
  pacer.Begin(kStart + absl::Hours(1), 0);
  EXPECT_LE(pacer.WaitAt(kStart + absl::Hours(1), 100, 100), absl::Seconds(20));
}

TEST(Pacer, NoWaitsWhenMoreTablesWait) {
  Pacer pacer;
  pacer.Begin(kStart, 0);
  pacer.Begin(kStart + absl::Seconds(10), 1);
  EXPECT_EQ(pacer.WaitAt(kStart + absl::Seconds(10), 50, 100), absl::ZeroDuration());
  EXPECT_TRUE(pacer.hurried());
  pacer.Begin(kStart + absl::Seconds(20), 0);
  EXPECT_GT(pacer.WaitAt(kStart + absl::Seconds(20), 50, 100), absl::ZeroDuration());
  const size_t calm = pacer.DirtyPagesMax();
  pacer.Hurry();
  EXPECT_EQ(pacer.WaitAt(kStart + absl::Seconds(20), 50, 100), absl::ZeroDuration());
  EXPECT_GT(pacer.DirtyPagesMax(), calm);
}

TEST(Pacer, AnEmptyTableNeedsNoTime) {
  Pacer pacer;
  pacer.Begin(kStart, 0);
  EXPECT_EQ(pacer.WaitAt(kStart, 0, 0), absl::ZeroDuration());
}

}  // namespace
}  // namespace evenkeel::storage
