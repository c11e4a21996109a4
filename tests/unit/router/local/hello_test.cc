// hello, also awaited and streamed.
#include "base/status.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class HelloTest : public AwaitTest {
 protected:
  std::string Known(std::string_view counter, std::string_view wait) {
    const bson::Document reply = Run(R"({"hello": 1})");
    const bson::Value process = reply["topologyVersion"].AsDocument()["processId"];
    bson::Builder id;
    id.Append("processId", process);
    const std::string json = bson::ToCanonicalJson(id.Finish());
    return "{\"hello\": 1, \"topologyVersion\": {" + json.substr(1, json.size() - 2) +
           ", \"counter\": {\"$numberLong\": \"" + std::string(counter) +
           "\"}}, \"maxAwaitTimeMS\": " + std::string(wait) + "}";
  }
};

TEST_F(HelloTest, SaysWhatAMongosSays) {
  const bson::Document reply = Run(R"({"hello": 1, "helloOk": true})");
  EXPECT_TRUE(reply["isWritablePrimary"].AsBool());
  EXPECT_TRUE(reply["helloOk"].AsBool());
  EXPECT_EQ(reply["msg"].AsString(), "isdbgrid");
  EXPECT_EQ(reply["maxBsonObjectSize"].AsInt32(), 16777216);
  EXPECT_EQ(reply["maxMessageSizeBytes"].AsInt32(), 48000000);
  EXPECT_EQ(reply["maxWriteBatchSize"].AsInt32(), 100000);
  EXPECT_EQ(reply["logicalSessionTimeoutMinutes"].AsInt32(), 30);
  EXPECT_EQ(reply["minWireVersion"].AsInt32(), 0);
  EXPECT_EQ(reply["maxWireVersion"].AsInt32(), 21);
  EXPECT_EQ(reply["connectionId"].AsInt32(), 7);
  EXPECT_TRUE(reply["localTime"].Is(bson::Type::kDate));
  EXPECT_FALSE(reply.view().Contains("ismaster"));
}

TEST_F(HelloTest, IsMasterHasItsOldField) {
  for (const std::string_view name : {R"({"isMaster": 1})", R"({"ismaster": 1})"}) {
    const bson::Document reply = Run(name);
    EXPECT_TRUE(reply["ismaster"].AsBool()) << name;
    EXPECT_FALSE(reply.view().Contains("isWritablePrimary")) << name;
  }
}

TEST_F(HelloTest, CompressorsThatBothKnowInTheClientsOrder) {
  const bson::Document reply = Run(R"({"hello": 1, "compression": ["zstd", "lzma", "snappy"]})");
  EXPECT_EQ(bson::ToJson(reply["compression"].AsDocument()), R"({"0":"zstd","1":"snappy"})");
  EXPECT_FALSE(Run(R"({"hello": 1})").view().Contains("compression"));
}

TEST_F(HelloTest, MetadataAreTakenOnce) {
  const std::string good = R"({"hello": 1, "client": {"driver": {"name": "d", "version": "1"},)"
                           R"( "os": {"type": "Linux"}}})";
  EXPECT_EQ(CodeOfReply(Run(R"({"hello": 1, "client": {"driver": {}}})")), 184);
  EXPECT_EQ(CodeOfReply(Run(R"({"hello": 1, "client": 5})")), 14);
  EXPECT_EQ(CodeOfReply(Run(good)), 0);
  EXPECT_TRUE(client().said_hello);
  EXPECT_EQ(CodeOfReply(Run(good)), 186);
  EXPECT_EQ(CodeOfReply(Run(R"({"hello": 1})")), 0);
}

struct Case {
  std::string_view command;
  int code;
};

TEST_F(HelloTest, BadTopologyVersions) {
  const Case cases[] = {
      {R"({"hello": 1, "maxAwaitTimeMS": 1})", 31368},
      {R"({"hello": 1, "topologyVersion": {}})", 31368},
      {R"({"hello": 1, "topologyVersion": {}, "maxAwaitTimeMS": 1})", 14},
      {R"({"hello": 1, "topologyVersion": 1, "maxAwaitTimeMS": 1})", 14},
  };
  for (const Case& c : cases) EXPECT_EQ(CodeOfReply(Run(c.command)), c.code) << c.command;
  EXPECT_EQ(CodeOfReply(Run(Known("0", "-1"))), 31373);
  EXPECT_EQ(CodeOfReply(Run(Known("9", "1"))), 31382);
}

TEST_F(HelloTest, AnAwaitableHelloStreamsWhenAllowed) {
  const auto streamed = Begin(Known("0", "1"), wire::kExhaustAllowed);
  Finish(*streamed);
  EXPECT_TRUE(streamed->more_to_come);
  const auto plain = Begin(Known("0", "1"));
  Finish(*plain);
  EXPECT_FALSE(plain->more_to_come);
}

TEST_F(HelloTest, AnotherProcessIsToldAtOnce) {
  const std::string other =
      R"({"hello": 1, "topologyVersion": {"processId": {"$oid": "aaaaaaaaaaaaaaaaaaaaaaaa"},
          "counter": {"$numberLong": "3"}}, "maxAwaitTimeMS": 3600000})";
  EXPECT_EQ(CodeOfReply(Run(other)), 0);
}

TEST_F(HelloTest, AWaitingHelloEndsWithTheConnection) {
  const auto hello = Begin(Known("0", "3600000"));
  Poll();
  EXPECT_FALSE(hello->done);
  client().disconnected.Cancel();
  Finish(*hello);
  EXPECT_EQ(CodeOfReply(hello->reply), static_cast<int>(ErrorCode::kInterrupted));
}

}  // namespace
}  // namespace evenkeel::router
