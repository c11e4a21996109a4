// Dispatch: checks before a handler, order within sessions, ends of waits.
#include "router/router.h"

#include "base/status.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class DispatchTest : public AwaitTest {};

struct Case {
  std::string_view command;
  int code;
};

TEST_F(DispatchTest, CommandsThatDoNotReachAHandler) {
  const Case cases[] = {
      {R"({"noSuchCommand": 1})", 59},
      {R"({"_shard": 1})", 59},  // internal
      {R"({"mapReduce": "c"})", 115},
      {R"({"listShards": 1})", 13},  // another database than admin
      {R"({"find": "c", "$shard": {"c": {"$numberLong": "1"}, "v": {"$numberLong": "1"}}})", 40415},
      {R"({"ping": 1, "txnNumber": {"$numberLong": "1"}})", 72},
      {R"({"find": "c", "$clusterTime": {"clusterTime": {"$timestamp": {"t": 4000000000,)"
       R"( "i": 1}}}})",
       189},
      {R"({"find": 5})", 73},
      {R"({"find": ""})", 73},
      {R"({"find": "a$b"})", 73},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CodeOfReply(Run(c.command)), c.code) << c.command;
  }
}

constexpr std::string_view kLsid =
    R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}})";

TEST_F(DispatchTest, StatementsNeedATransactionThatHasBegun) {
  const auto code = [this](const std::string& rest) {
    return CodeOfReply(Run(R"({"find": "c", "autocommit": false, )" + std::string(kLsid) +
                           R"(, "txnNumber": {"$numberLong": )" + rest + "}"));
  };
  EXPECT_EQ(code(R"("1"})"), 251);
  EXPECT_EQ(code(R"("1"}, "startTransaction": true)"), 0);
  EXPECT_EQ(code(R"("1"}, "startTransaction": true)"), 117);
  EXPECT_EQ(code(R"("1"}, "readConcern": {"level": "snapshot"})"), 72);
  EXPECT_EQ(code(R"("3"}, "startTransaction": true)"), 0);
  EXPECT_EQ(code(R"("2"}, "startTransaction": true)"), 225);
  EXPECT_EQ(code(R"("4"}, "startTransaction": true, "readConcern": {"level": "linearizable"})"),
            72);
}

TEST_F(DispatchTest, RepliesCarryTimesAndOk) {
  const bson::Document reply = Run(R"({"ping": 1})");
  EXPECT_EQ(reply["ok"].AsDouble(), 1.0);
  EXPECT_TRUE(reply["operationTime"].Is(bson::Type::kTimestamp));
  EXPECT_TRUE(reply["$clusterTime"].Is(bson::Type::kObject));
}

TEST_F(DispatchTest, RequestsOfOneSessionRunOneAfterAnother) {
  AddUnsharded("db.c", ShardId{1});
  Hold(1, "find");
  shard(1).On("find", [](bson::View) { return CursorReply("[]"); });
  const std::string find = R"({"find": "c", )" + std::string(kLsid) + "}";
  const auto first = Begin(find), second = Begin(find);
  const auto other = Begin(R"({"find": "c"})");
  Poll();
  EXPECT_EQ(shard(1).RequestsOf("find").size(), 2u) << "one of the session, one of nobody";
  Release();
  Finish(*first);
  Finish(*second);
  Finish(*other);
  EXPECT_EQ(shard(1).RequestsOf("find").size(), 3u);
}

TEST_F(DispatchTest, AClientThatIsGoneEndsItsWaitingCommand) {
  AddUnsharded("db.c", ShardId{1});
  Hold(1, "find");
  const auto find = Begin(R"({"find": "c"})");
  Poll();
  client().disconnected.Cancel();
  Finish(*find);
  EXPECT_EQ(CodeOfReply(find->reply), static_cast<int>(ErrorCode::kInterrupted));
}

TEST_F(DispatchTest, TheTimeLimitOfTheClientEndsAWait) {
  AddUnsharded("db.c", ShardId{1});
  Hold(1, "find");
  EXPECT_EQ(CodeOfReply(Run(R"({"find": "c", "maxTimeMS": 1})")),
            static_cast<int>(ErrorCode::kMaxTimeMSExpired));
}

TEST_F(DispatchTest, StopClosesCursors) {
  AddUnsharded("db.c", ShardId{1});
  shard(1).On("find", [](bson::View) { return CursorReply(R"([{"_id": 1}])", 77); });
  shard(1).On("killCursors", "{}");
  EXPECT_EQ(CodeOfReply(Run(R"({"find": "c"})")), 0);
  AwaitVoid(router().Stop(wall().Now() + absl::Seconds(1)));
  ASSERT_EQ(shard(1).RequestsOf("killCursors").size(), 1u);
  EXPECT_EQ(shard(1).RequestsOf("killCursors")[0]["cursors"].AsDocument()["0"].AsInt64(), 77);
}

}  // namespace
}  // namespace evenkeel::router
