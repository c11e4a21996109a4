// profile: what counts as slow.
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class ProfileTest : public AwaitTest {};

TEST_F(ProfileTest, TellsAndSetsSlowms) {
  EXPECT_EQ(Fields(Run(R"({"profile": -1})")), R"({"was":0,"slowms":100,"sampleRate":1.0})");
  EXPECT_EQ(Run(R"({"profile": 0, "slowms": 20})")["slowms"].AsInt32(), 100);
  EXPECT_EQ(Run(R"({"profile": -1})")["slowms"].AsInt32(), 20);
  EXPECT_EQ(state().slow_ms, 20);
}

TEST_F(ProfileTest, WhatARouterCannot) {
  const struct {
    std::string_view command;
    int code;
  } cases[] = {
      {R"({"profile": 1})", 2},
      {R"({"profile": "on"})", 14},
      {R"({"profile": 0, "slowms": "x"})", 14},
      {R"({"profile": 0, "sampleRate": 0.5})", 2},
      {R"({"profile": 0, "filter": {}})", 72},
      {R"({"profile": 0, "unknown": 1})", 40415},
  };
  for (const auto& tried : cases) {
    EXPECT_EQ(CodeOfReply(Run(tried.command)), tried.code) << tried.command;
  }
  EXPECT_EQ(state().slow_ms, 100);
}

}  // namespace
}  // namespace evenkeel::router
