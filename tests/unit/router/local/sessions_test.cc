// startSession, refreshSessions, endSessions.
#include "router/cursor/cursor_table.h"
#include "router/session/session_table.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class SessionsTest : public AwaitTest {
 protected:
  // The session of startSession as it is given to other commands.
  std::string Start() {
    const bson::Document reply = Run(R"({"startSession": 1})");
    EXPECT_EQ(reply["timeoutMinutes"].AsInt32(), 30);
    return bson::ToCanonicalJson(reply["id"].AsDocument());
  }
};

TEST_F(SessionsTest, StartMakesRandomUuids) {
  const std::string a = Start(), b = Start();
  EXPECT_NE(a, b);
  const bson::Document id = Json(a);
  ASSERT_EQ(id["id"].AsBinary().subtype, 4);
  EXPECT_EQ(id["id"].AsBinary().bytes[6] & 0xF0, 0x40);
  EXPECT_EQ(state().sessions->size(), 2u);
}

TEST_F(SessionsTest, EndClosesTheSessionsCursors) {
  AddUnsharded("db.u", ShardId{1});
  shard(1).On("find", [](bson::View) { return CursorReply(R"([{"_id": 1}])", 77); });
  shard(1).On("killCursors", "{}");
  const std::string session = Start();
  (void)Run("{\"find\": \"u\", \"lsid\": " + session + "}");
  EXPECT_EQ(OpenCursors(), 1u);
  EXPECT_EQ(Fields(Run("{\"endSessions\": [" + session + "]}")), "{}");
  EXPECT_EQ(OpenCursors(), 0u);
  EXPECT_EQ(state().sessions->size(), 0u);
}

TEST_F(SessionsTest, RefreshKeepsASessionAlive) {
  const std::string session = Start();
  wall().Advance(absl::Minutes(20));
  EXPECT_EQ(Fields(Run("{\"refreshSessions\": [" + session + "]}")), "{}");
  wall().Advance(absl::Minutes(20));
  EXPECT_TRUE(state().sessions->Expire().empty());
}

TEST_F(SessionsTest, KillingSessions) {
  const struct {
    std::string command;
    size_t left;  // of three sessions
  } cases[] = {
      {R"({"killSessions": [%]})", 2},
      {R"({"killSessions": []})", 0},
      {R"({"killAllSessions": []})", 0},
      {R"({"killAllSessions": [{"user": "u", "db": "d"}]})", 3},
      {R"({"killAllSessionsByPattern": []})", 0},
      {R"({"killAllSessionsByPattern": [{"lsid": %}]})", 2},
      {R"({"killAllSessionsByPattern": [{"users": []}]})", 3},
  };
  for (auto [command, left] : cases) {
    (void)Run(R"({"killAllSessions": []})");
    const std::string session = Start();
    for (int i = 0; i < 2; ++i) (void)Start();
    if (const size_t at = command.find('%'); at != command.npos) command.replace(at, 1, session);
    EXPECT_EQ(Fields(Run(command)), "{}") << command;
    EXPECT_EQ(state().sessions->size(), left) << command;
  }
}

TEST_F(SessionsTest, BadKills) {
  const std::pair<std::string_view, int> cases[] = {
      {R"({"killAllSessions": 1})", 14},
      {R"({"killAllSessions": null})", 40414},
      {R"({"killAllSessions": [1]})", 14},
      {R"({"killAllSessions": [{"user": "u"}]})", 40414},
      {R"({"killAllSessions": [{"user": "u", "db": "d", "x": 1}]})", 40415},
      {R"({"killAllSessionsByPattern": [{"lsid": {}, "x": 1}]})", 40415},
      {R"({"killSessions": [{}]})", 14},
  };
  for (const auto& [command, code] : cases) EXPECT_EQ(CodeOfReply(Run(command)), code) << command;
}

TEST_F(SessionsTest, BadLists) {
  for (const std::string_view bad : {R"({"endSessions": 1})", R"({"endSessions": [1]})",
                                     R"({"refreshSessions": [{"id": 1}]})"}) {
    EXPECT_EQ(CodeOfReply(Run(bad)), 14) << bad;
  }
}

}  // namespace
}  // namespace evenkeel::router
