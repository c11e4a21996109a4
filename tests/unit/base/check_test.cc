// Tests that failed checks end the process and name the condition.
#include "base/check.h"

#include <gtest/gtest.h>

namespace evenkeel::base {
namespace {

TEST(CheckTest, PassesWhenTrue) {
  int evaluated = 0;
  EVENKEEL_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, AbortsAndNamesTheCondition) {
  EXPECT_DEATH(EVENKEEL_CHECK(1 + 1 == 3), "check_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace evenkeel::base
