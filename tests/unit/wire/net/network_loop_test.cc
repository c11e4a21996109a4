// Tests of what the connections of one loop share.
#include "wire/net/network_loop.h"

#include <gtest/gtest.h>

namespace evenkeel::wire {
namespace {

TEST(LogLimiter, DropsAndCounts) {
  LogLimiter limiter(2);
  EXPECT_EQ(limiter.AdmitAt(1), 0u);
  EXPECT_EQ(limiter.AdmitAt(1), 0u);
  EXPECT_EQ(limiter.AdmitAt(1), std::nullopt);
  EXPECT_EQ(limiter.AdmitAt(1), std::nullopt);
  EXPECT_EQ(limiter.AdmitAt(2), 2u);
  EXPECT_EQ(limiter.AdmitAt(2), 0u);
  EXPECT_EQ(limiter.AdmitAt(2), std::nullopt);
  EXPECT_EQ(limiter.AdmitAt(9), 1u);
}

TEST(LogLimiter, UsesTheClock) { EXPECT_EQ(LogLimiter().Admit(), 0u); }

TEST(LoopCounter, Adds) {
  LoopCounter counter;
  counter.Add(2);
  counter.Add(3);
  EXPECT_EQ(counter.Get(), 5u);
}

}  // namespace
}  // namespace evenkeel::wire
