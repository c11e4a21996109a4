// Modes of fail points: what is accepted, which passes they hit, their text form.
#include "router/fail/mode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router::fail {
namespace {

// One letter per pass: x for a hit, . for none.
std::string Passes(const base::FailPointMode& mode, uint64_t count) {
  std::string seen;
  for (uint64_t pass = 1; pass <= count; ++pass) seen.push_back(mode.Hits(pass) ? 'x' : '.');
  return seen;
}

TEST(ModeTest, WhichPassesAreHit) {
  struct Case {
    std::string mode, passes, text;
  };
  const Case cases[] = {
      {R"("off")", "......", "off"},
      {R"("alwaysOn")", "xxxxxx", "always"},
      {R"({"times": 1})", "x.....", "times:1"},
      {R"({"times": 4})", "xxxx..", "times:4"},
      {R"({"times": {"$numberLong": "2"}})", "xx....", "times:2"},
      {R"({"times": {"$numberDouble": "2.0"}})", "xx....", "times:2"},
      {R"({"times": 2147483647})", "xxxxxx", "times:2147483647"},
      {R"({"times": 0})", "......", "off"},
      {R"({"skip": 1})", ".xxxxx", "skip:1"},
      {R"({"skip": 5})", ".....x", "skip:5"},
      {R"({"skip": 0})", "xxxxxx", "always"},
      {R"({"activationProbability": {"$numberDouble": "0.0"}})", "......", ""},
      {R"({"activationProbability": {"$numberDouble": "1.0"}})", "xxxxxx", ""},
      {R"({"activationProbability": 1})", "xxxxxx", ""},
  };
  for (const Case& c : cases) {
    const auto mode = ParseMode(Json("{\"mode\": " + c.mode + "}")["mode"]);
    ASSERT_TRUE(mode.ok()) << c.mode << ": " << mode.status();
    EXPECT_EQ(Passes(*mode, 6), c.passes) << c.mode;
    if (!c.text.empty()) EXPECT_EQ(ModeText(*mode), c.text) << c.mode;
  }
}

TEST(ModeTest, ProbabilityHitsItsShare) {
  const auto mode = ParseMode(Json(R"({"mode": {"activationProbability": 0.25}})")["mode"]);
  ASSERT_TRUE(mode.ok());
  const std::string passes = Passes(*mode, 4000);
  EXPECT_NEAR(static_cast<double>(std::count(passes.begin(), passes.end(), 'x')), 1000, 250);
}

TEST(ModeTest, TheTextIsReadBack) {
  base::FailPoint& point = base::fail_points::base_self_test;
  const base::FailPointMode modes[] = {
      base::FailPointMode::Times(2), base::FailPointMode::Skip(3),
      base::FailPointMode::Nth(2),   base::FailPointMode::Always(),
      base::FailPointMode::Off(),    base::FailPointMode::Probability(0.4, 77),
  };
  for (const base::FailPointMode& mode : modes) {
    ASSERT_TRUE(base::ConfigureFailPoints("base_self_test=" + ModeText(mode)).ok());
    std::string seen;
    for (int i = 0; i < 50; ++i) seen.push_back(point.Pass() ? 'x' : '.');
    EXPECT_EQ(seen, Passes(mode, 50)) << ModeText(mode);
  }
  EXPECT_EQ(ModeText(base::FailPointMode::Crash(4)), "crash:4");
  EXPECT_EQ(ModeText(base::FailPointMode::Pause()), "pause");
  base::ResetFailPoints();
}

TEST(ModeTest, BadModes) {
  struct Case {
    std::string mode;
    ErrorCode code;
  };
  const Case cases[] = {
      {R"("sometimes")", ErrorCode::kBadValue},
      {R"({})", ErrorCode::kBadValue},
      {R"({"often": 1})", ErrorCode::kBadValue},
      {R"({"times": 1, "skip": 1})", ErrorCode::kBadValue},
      {R"({"times": -1})", ErrorCode::kBadValue},
      {R"({"times": 1.5})", ErrorCode::kBadValue},
      {R"({"times": 2147483648})", ErrorCode::kBadValue},
      {R"({"skip": {"$numberDouble": "NaN"}})", ErrorCode::kBadValue},
      {R"({"times": "1"})", ErrorCode::kTypeMismatch},
      {R"({"skip": null})", ErrorCode::kTypeMismatch},
      {R"({"activationProbability": "1"})", ErrorCode::kTypeMismatch},
      {R"({"activationProbability": 1.1})", ErrorCode::kBadValue},
      {R"({"activationProbability": -0.1})", ErrorCode::kBadValue},
      {R"({"activationProbability": {"$numberDouble": "NaN"}})", ErrorCode::kBadValue},
      {R"(true)", ErrorCode::kTypeMismatch},
      {R"(null)", ErrorCode::kTypeMismatch},
      {R"([])", ErrorCode::kTypeMismatch},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CodeOf(ParseMode(Json("{\"mode\": " + c.mode + "}")["mode"]).status()), c.code)
        << c.mode;
  }
  EXPECT_EQ(CodeOf(ParseMode(bson::Value()).status()), ErrorCode::kIllegalOperation);
}

}  // namespace
}  // namespace evenkeel::router::fail
