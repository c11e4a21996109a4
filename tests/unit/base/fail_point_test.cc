// Tests of fail points: every mode, waiting for hits, the text form.
#include "base/fail_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread.h"

namespace evenkeel::base {
namespace {

class FailPointTest : public ::testing::Test {
 protected:
  void TearDown() override { ResetFailPoints(); }

  // One letter per pass: x for a hit, . for none.
  static std::string Passes(int count) {
    std::string seen;
    for (int i = 0; i < count; ++i) seen.push_back(EVENKEEL_FAIL_POINT(base_self_test) ? 'x' : '.');
    return seen;
  }

  FailPoint& point_ = fail_points::base_self_test;
};

TEST_F(FailPointTest, OffByDefault) {
  EXPECT_EQ(Passes(3), "...");
  EXPECT_EQ(point_.hits(), 0u);
}

TEST_F(FailPointTest, Modes) {
  struct Case {
    const char* spec;
    const char* passes;
  };
  const Case cases[] = {
      {"base_self_test=always", "xxxxx"},
      {"base_self_test=nth:1", "x...."},
      {"base_self_test=nth:3", "..x.."},
      {"base_self_test=nth:9", "....."},
      {"base_self_test=times:1", "x...."},
      {"base_self_test=times:3", "xxx.."},
      {"base_self_test=times:9", "xxxxx"},
      {"base_self_test=skip:1", ".xxxx"},
      {"base_self_test=skip:3", "...xx"},
      {"base_self_test=skip:9", "....."},
      {"base_self_test=off", "....."},
      {"base_self_test=probability:0", "....."},
      {"base_self_test=probability:1", "xxxxx"},
      {" ;base_self_test=nth:2; ", ".x..."},
      {"base_self_test=always;base_self_test=off", "....."},
  };
  for (const Case& c : cases) {
    ASSERT_TRUE(ConfigureFailPoints(c.spec).ok()) << c.spec;
    EXPECT_EQ(Passes(5), c.passes) << c.spec;
  }
}

TEST_F(FailPointTest, ProbabilityRepeatsWithItsSeed) {
  point_.Set(FailPointMode::Probability(0.3, 7));
  const std::string first = Passes(200);
  point_.Set(FailPointMode::Probability(0.3, 7));
  EXPECT_EQ(Passes(200), first);
  point_.Set(FailPointMode::Probability(0.3, 8));
  EXPECT_NE(Passes(200), first);
  EXPECT_NEAR(static_cast<double>(std::count(first.begin(), first.end(), 'x')), 60, 30);
}

TEST_F(FailPointTest, PauseHoldsTheThreadUntilReleased) {
  point_.Set(FailPointMode::Pause());
  std::atomic<bool> passed{false};
  Thread thread("paused", [&passed] {
    EXPECT_FALSE(EVENKEEL_FAIL_POINT(base_self_test));
    passed = true;
  });
  ASSERT_TRUE(point_.WaitForHits(1, absl::Seconds(60)));
  EXPECT_FALSE(passed);
  point_.Set(FailPointMode::Off());
  thread.Join();
  EXPECT_TRUE(passed);
}

TEST_F(FailPointTest, PausedThreadGoesOnWhenThePauseIsSetAgain) {
  point_.Set(FailPointMode::Pause());
  Thread thread("paused", [] { EVENKEEL_FAIL_POINT(base_self_test); });
  ASSERT_TRUE(point_.WaitForHits(1, absl::Seconds(60)));
  point_.Set(FailPointMode::Pause());
  thread.Join();
  EXPECT_EQ(point_.hits(), 0u);
}

TEST_F(FailPointTest, WaitForHitsTimesOut) {
  point_.Set(FailPointMode::Always());
  EXPECT_FALSE(point_.WaitForHits(1, absl::ZeroDuration()));
  Passes(2);
  EXPECT_TRUE(point_.WaitForHits(2, absl::ZeroDuration()));
  EXPECT_EQ(point_.hits(), 2u);
}

TEST_F(FailPointTest, TotalHitsOutliveModes) {
  const uint64_t before = point_.total_hits();
  point_.Set(FailPointMode::Times(2));
  Passes(5);
  point_.Set(FailPointMode::Skip(1));
  Passes(2);
  point_.Set(FailPointMode::Off());
  EXPECT_EQ(point_.hits(), 0u);
  EXPECT_EQ(point_.total_hits(), before + 3);
}

TEST_F(FailPointTest, ScopeSwitchesOff) {
  {
    const ScopedFailPoint scope(point_, FailPointMode::Always());
    EXPECT_EQ(Passes(1), "x");
  }
  EXPECT_EQ(Passes(1), ".");
}

TEST_F(FailPointTest, BadTextChangesNothing) {
  const char* const specs[] = {
      "nope=always",
      "base_self_test",
      "base_self_test=",
      "base_self_test=sometimes",
      "base_self_test=nth",
      "base_self_test=nth:0",
      "base_self_test=nth:x",
      "base_self_test=times",
      "base_self_test=times:0",
      "base_self_test=skip:-1",
      "base_self_test=always:1",
      "base_self_test=probability",
      "base_self_test=probability:1.5",
      "base_self_test=probability:0.5:x",
      "base_self_test=crash:0",
      "base_self_test=always;nope=off",
  };
  for (const char* spec : specs) {
    EXPECT_EQ(CodeOf(ConfigureFailPoints(spec)), ErrorCode::kFailedToParse) << spec;
    EXPECT_EQ(Passes(1), ".") << spec;
  }
}

TEST_F(FailPointTest, NamesAreUniqueAndFound) {
  const std::vector<FailPoint*> all = AllFailPoints();
  EXPECT_GT(all.size(), 10u);
  for (FailPoint* point : all) {
    EXPECT_EQ(FindFailPoint(point->name()), point);
    EXPECT_FALSE(point->meaning().empty());
  }
  EXPECT_EQ(FindFailPoint("nope"), nullptr);
}

TEST(FailPointDeathTest, CrashEndsTheProcessOnTheNthPass) {
  const auto crash = [] {
    if (!ConfigureFailPoints("base_self_test=crash:2").ok()) return;
    if (EVENKEEL_FAIL_POINT(base_self_test)) return;
    EVENKEEL_FAIL_POINT(base_self_test);
  };
  EXPECT_EXIT(crash(), ::testing::ExitedWithCode(137), "");
}

}  // namespace
}  // namespace evenkeel::base
