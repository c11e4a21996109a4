// What the process tells of itself and its machine.
#include "base/log.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class InfoTest : public AwaitTest {};

TEST_F(InfoTest, Ping) { EXPECT_EQ(Fields(Run(R"({"ping": 1})")), "{}"); }

TEST_F(InfoTest, BuildInfo) {
  const bson::Document reply = Run(R"({"buildInfo": 1})");
  EXPECT_EQ(reply["version"].AsString(), "7.0.0");
  EXPECT_EQ(bson::ToJson(reply["versionArray"].AsDocument()), R"({"0":7,"1":0,"2":0,"3":0})");
  EXPECT_EQ(reply["bits"].AsInt32(), 64);
  EXPECT_EQ(reply["maxBsonObjectSize"].AsInt32(), 16777216);
}

TEST_F(InfoTest, HostInfo) {
  const bson::Document reply = Run(R"({"hostInfo": 1})");
  EXPECT_GT(reply["system"].AsDocument()["numCores"].AsInt32(), 0);
  EXPECT_GT(reply["system"].AsDocument()["memSizeMB"].AsInt64(), 0);
  EXPECT_EQ(reply["os"].AsDocument()["type"].AsString(), "Linux");
}

TEST_F(InfoTest, OptionsOfTheProcess) {
  EXPECT_EQ(Fields(Run(R"({"getCmdLineOpts": 1, "$db": "admin"})")), R"({"argv":[],"parsed":{}})");
  state().options.command_line = Json(R"({"argv": ["evenkeel"], "parsed": {}})");
  EXPECT_EQ(Run(R"({"getCmdLineOpts": 1, "$db": "admin"})")["argv"].AsDocument().CountFields(), 1u);
}

TEST_F(InfoTest, Logs) {
  EXPECT_EQ(Fields(Run(R"({"getLog": "*", "$db": "admin"})")),
            R"({"names":["global","startupWarnings"]})");
  base::LogStartupWarning("test", "beware of the test");
  const bson::Document warnings = Run(R"({"getLog": "startupWarnings", "$db": "admin"})");
  ASSERT_EQ(warnings["totalLinesWritten"].AsInt32(), 1);
  const bson::Document line = Json(warnings["log"].AsDocument()["0"].AsString());
  EXPECT_NE(line["msg"].AsString().find("beware"), std::string_view::npos);
  EXPECT_GT(Run(R"({"getLog": "global", "$db": "admin"})")["log"].AsDocument().CountFields(), 0u);
  EXPECT_EQ(CodeOfReply(Run(R"({"getLog": "other", "$db": "admin"})")), 96);
  EXPECT_EQ(CodeOfReply(Run(R"({"getLog": 1, "$db": "admin"})")), 14);
}

TEST_F(InfoTest, ConnectionStatus) {
  EXPECT_EQ(Fields(Run(R"({"connectionStatus": 1})")),
            R"({"authInfo":{"authenticatedUsers":[],"authenticatedUserRoles":[]}})");
  EXPECT_TRUE(
      Run(R"({"connectionStatus": 1, "showPrivileges": true})")["authInfo"].AsDocument().Contains(
          "authenticatedUserPrivileges"));
}

struct BadCase {
  std::string_view command;
  int code;
};

TEST_F(InfoTest, BadFields) {
  const BadCase cases[] = {
      {R"({"buildInfo": 1, "unknown": 1})", 40415},
      {R"({"getCmdLineOpts": 1, "unknown": 1, "$db": "admin"})", 40415},
      {R"({"getLog": "global", "unknown": 1, "$db": "admin"})", 40415},
      {R"({"getLog": null, "$db": "admin"})", 40414},
      {R"({"connectionStatus": 1, "unknown": 1})", 40415},
      {R"({"connectionStatus": 1, "showPrivileges": "yes"})", 14},
  };
  for (const BadCase& c : cases) EXPECT_EQ(CodeOfReply(Run(c.command)), c.code) << c.command;
}

TEST_F(InfoTest, AddressOfTheClient) {
  EXPECT_EQ(Fields(Run(R"({"whatsmyuri": 1})")), R"({"you":"127.0.0.1:5000"})");
}

TEST_F(InfoTest, ListCommands) {
  const bson::Document reply = Run(R"({"listCommands": 1})");
  EXPECT_TRUE(reply["commands"].AsDocument().Contains("find"));
  EXPECT_FALSE(reply["commands"].AsDocument().Contains("_shard"));
}

}  // namespace
}  // namespace evenkeel::router
