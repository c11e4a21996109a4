// configureFailPoint: its errors, fail points of the engine, with and without test commands.
#include "base/fail_point.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router::fail {
namespace {

class ConfigureTest : public AwaitTest {
 protected:
  ConfigureTest() : AwaitTest(3, /*test_commands=*/true) {}
  ~ConfigureTest() override { base::ResetFailPoints(); }

  bson::Document Configure(const std::string& rest) {
    return Run(R"({"configureFailPoint": )" + rest + R"(, "$db": "admin"})");
  }
};

class WithoutTestCommands : public RouterTest {};

TEST_F(WithoutTestCommands, ThereIsNoSuchCommand) {
  EXPECT_EQ(CodeOfReply(Run(R"({"configureFailPoint": "failCommand", "mode": "off"})")), 59);
  EXPECT_EQ(Fields(Run(R"({"getParameter": 1, "enableTestCommands": 1, "$db": "admin"})")),
            R"({"enableTestCommands":false})");
  EXPECT_FALSE(
      Run(R"({"listCommands": 1})")["commands"].AsDocument().Contains("configureFailPoint"));
}

TEST_F(ConfigureTest, ParameterAndList) {
  EXPECT_EQ(Fields(Run(R"({"getParameter": 1, "enableTestCommands": 1, "$db": "admin"})")),
            R"({"enableTestCommands":true})");
  EXPECT_TRUE(
      Run(R"({"listCommands": 1})")["commands"].AsDocument().Contains("configureFailPoint"));
}

TEST_F(ConfigureTest, BadCommands) {
  struct Case {
    std::string rest;
    int code;
  };
  const Case cases[] = {
      {R"(1, "mode": "off")", 14},
      {R"("failCommand")", 20},
      {R"("failCommand", "mode": "never")", 2},
      {R"("failCommand", "mode": "off", "data": 1)", 14},
      {R"("failCommand", "mode": "off", "data": {"failCommands": 1})", 14},
      {R"("noSuchPoint", "mode": "off")", 266},
      {R"("base_self_test", "mode": "alwaysOn", "data": {"shard": "shard9"})", 70},
      {R"("base_self_test", "mode": "alwaysOn", "data": {"shard": 1})", 14},
      {R"("base_self_test", "mode": "alwaysOn", "data": {"what": 1})", 40415},
      {R"("base_self_test", "mode": "alwaysOn", "data": {"action": "explode"})", 2},
      {R"("base_self_test", "mode": {"times": 1}, "data": {"action": "crash"})", 2},
      {R"("base_self_test", "mode": {"skip": 1}, "data": {"action": "pause"})", 2},
  };
  for (const Case& c : cases) EXPECT_EQ(CodeOfReply(Configure(c.rest)), c.code) << c.rest;
  EXPECT_EQ(CodeOfReply(Run(R"({"configureFailPoint": "failCommand", "mode": "off"})")), 13)
      << "another database than admin";
}

TEST_F(ConfigureTest, CountsHits) {
  const std::string rest =
      R"("failCommand", "mode": {"times": 2}, "data": {"failCommands": ["ping"], "errorCode": 5})";
  EXPECT_EQ(Fields(Configure(rest)), R"({"count":0})");
  for (const int code : {5, 5, 0}) EXPECT_EQ(CodeOfReply(Run(R"({"ping": 1})")), code);
  EXPECT_EQ(Fields(Configure(R"("failCommand", "mode": "off")")), R"({"count":2})");
}

TEST_F(ConfigureTest, PointsOfTheEngineInOneProcess) {
  const base::FailPoint& point = base::fail_points::base_self_test;
  const uint64_t before = point.total_hits();
  Configure(R"("base_self_test", "mode": {"times": 2}, "data": {"shard": "shard1"})");
  std::string seen;
  for (int i = 0; i < 3; ++i) seen.push_back(EVENKEEL_FAIL_POINT(base_self_test) ? 'x' : '.');
  EXPECT_EQ(seen, "xx.");
  const bson::Document reply = Configure(R"("base_self_test", "mode": "off")");
  EXPECT_EQ(reply["count"].AsInt32(), static_cast<int32_t>(before + 2));
  EXPECT_TRUE(shard(1).RequestsOf("_setFailPoint").empty()) << "it is the same process";
}

TEST_F(ConfigureTest, PointsOfOtherProcesses) {
  state().options.owns_shards = false;
  for (uint32_t i = 0; i < 3; ++i) shard(i).On("_setFailPoint", R"({"count": 1})");
  struct Case {
    std::string rest, spec;
    std::vector<size_t> requests;
  };
  const Case cases[] = {
      {R"("base_self_test", "mode": {"times": 2}, "data": {"shard": "shard1"})",
       "base_self_test=times:2",
       {0, 1, 0}},
      {R"("base_self_test", "mode": "off")", "base_self_test=off", {1, 1, 1}},
      {R"("base_self_test", "mode": "alwaysOn", "data": {"shard": "shard0", "action": "crash"})",
       "base_self_test=crash:1",
       {1, 0, 0}},
      {R"("base_self_test", "mode": {"skip": 3}, "data": {"shard": "shard2", "action": "crash"})",
       "base_self_test=crash:4",
       {0, 0, 1}},
      {R"("base_self_test", "mode": "alwaysOn", "data": {"shard": "shard2", "action": "pause"})",
       "base_self_test=pause",
       {0, 0, 1}},
  };
  for (const Case& c : cases) {
    ForgetRequests();
    EXPECT_EQ(CodeOfReply(Configure(c.rest)), 0) << c.rest;
    EXPECT_EQ(CountsOf("_setFailPoint"), c.requests) << c.rest;
    for (uint32_t i = 0; i < 3; ++i) {
      for (const bson::Document& request : shard(i).RequestsOf("_setFailPoint")) {
        EXPECT_EQ(request["_setFailPoint"].AsString(), c.spec);
      }
    }
    EXPECT_FALSE(EVENKEEL_FAIL_POINT(base_self_test)) << "of this process";
  }
}

}  // namespace
}  // namespace evenkeel::router::fail
