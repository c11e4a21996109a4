// The rows of currentOp, and killOp.
#include "router/local/current_op.h"

#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

constexpr std::string_view kTransaction =
    R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}},
       "txnNumber": {"$numberLong": "4"}, "autocommit": false)";

class CurrentOpTest : public RouterTest {
 protected:
  CurrentOpTest() {
    AddUnsharded("db.u", ShardId{1});
    shard(1).On("find", [](bson::View) { return CursorReply(R"([{"_id": 1}])", 77); });
    shard(1).On("killCursors", "{}");
    shard(1).On("_applyDecision", "{}");
    client().metadata = Json(R"({"application": {"name": "app"}, "driver": {"name": "d"}})");
  }
  // The first row of a kind, empty when there is none.
  bson::Document Row(std::string_view filter, const std::string& options = "{}") {
    const bson::Document reply =
        Run(R"({"aggregate": 1, "$db": "admin", "cursor": {}, "pipeline": [{"$currentOp": )" +
            options + R"(}, {"$match": )" + std::string(filter) + "}]}");
    EXPECT_EQ(CodeOfReply(reply), 0) << bson::ToJson(reply);
    const bson::Value first = reply["cursor"].AsDocument()["firstBatch"].AsDocument().Front().value;
    return first.missing() ? bson::Document() : bson::Document(first.AsDocument());
  }
};

TEST_F(CurrentOpTest, AnOperationThatWaitsIsShownAndKilled) {
  Hold(1, "find");
  const auto pending = Begin(R"({"find": "u", "filter": {"x": 1}})");
  Poll();
  const bson::Document row = Row(R"({"op": "query"})");
  EXPECT_EQ(row["ns"].AsString(), "db.u");
  EXPECT_EQ(row["desc"].AsString(), "conn7");
  EXPECT_EQ(row["client"].AsString(), "127.0.0.1:5000");
  EXPECT_EQ(row["appName"].AsString(), "app");
  EXPECT_TRUE(row["active"].AsBool());
  EXPECT_EQ(row["command"].AsDocument()["find"].AsString(), "u");
  ASSERT_TRUE(row["opid"].Is(bson::Type::kInt32));
  const bson::Document killed =
      Run(R"({"killOp": 1, "$db": "admin", "op": )" + std::to_string(row["opid"].AsInt32()) + "}");
  EXPECT_EQ(Fields(killed), R"({"info":"attempting to kill op"})");
  Finish(*pending);
  EXPECT_EQ(CodeOfReply(pending->reply), 11601);
  Release();
}

TEST_F(CurrentOpTest, TheCommandFiltersByItsFields) {
  Hold(1, "find");
  const auto pending = Begin(R"({"find": "u"})");
  Poll();
  const auto inprog = [this](const std::string& fields) {
    return Run(R"({"currentOp": 1, "$db": "admin")" + fields + "}")["inprog"]
        .AsDocument()
        .CountFields();
  };
  EXPECT_EQ(inprog(""), 2u) << "this one, too";
  EXPECT_EQ(inprog(R"(, "ns": "db.u", "comment": "x")"), 1u);
  EXPECT_EQ(inprog(R"(, "ns": "db.u", "secs_running": {"$gt": 100}, "$all": true)"), 0u);
  Release();
  Finish(*pending);
}

TEST_F(CurrentOpTest, ATransactionBetweenItsStatementsIsAnIdleSession) {
  shard(1).On("find", [](bson::View) { return CursorReply(R"([{"_id": 1}])", 0); });
  (void)Run(R"({"find": "u", "startTransaction": true, "readConcern": {"level": "snapshot"}, )" +
            std::string(kTransaction) + "}");
  const bson::Document row = Row(R"({"type": "idleSession"})");
  const bson::View transaction = row["transaction"].AsDocument();
  EXPECT_EQ(row["desc"].AsString(), "inactive transaction");
  EXPECT_FALSE(row["active"].AsBool());
  EXPECT_EQ(bson::ToJson(transaction["parameters"].AsDocument()),
            R"({"txnNumber":4,"autocommit":false,"readConcern":{"level":"snapshot"}})");
  EXPECT_EQ(transaction["numReadOnlyParticipants"].AsInt32(), 1);
  EXPECT_TRUE(Row(R"({"type": "idleSession"})", R"({"idleSessions": false})").empty());
  (void)Run(R"({"commitTransaction": 1, "$db": "admin", )" + std::string(kTransaction) + "}");
  EXPECT_TRUE(Row(R"({"type": "idleSession"})").empty());
}

TEST_F(CurrentOpTest, IdleCursorsOnRequest) {
  (void)Run(R"({"find": "u", "batchSize": 1})");
  EXPECT_TRUE(Row(R"({"type": "idleCursor"})").empty());
  const bson::Document row = Row(R"({"type": "idleCursor"})", R"({"idleCursors": true})");
  EXPECT_EQ(row["ns"].AsString(), "db.u");
  EXPECT_EQ(row["cursor"].AsDocument()["originatingCommand"].AsDocument()["find"].AsString(), "u");
}

TEST_F(CurrentOpTest, LongCommandsAreCutOnRequest) {
  Hold(1, "find");
  const auto pending =
      Begin(R"({"find": "u", "filter": {"x": ")" + std::string(2000, 'x') + R"("}})");
  Poll();
  const auto command = [this](const std::string& options) {
    return Row(R"({"op": "query"})", options)["command"].AsDocument().SizeBytes();
  };
  EXPECT_GT(command("{}"), 2000u);
  EXPECT_LT(command(R"({"truncateOps": true})"), 1500u);
  Release();
  Finish(*pending);
}

TEST_F(CurrentOpTest, WhatIsNoOperation) {
  const std::pair<std::string_view, int> cases[] = {
      {"", 4},
      {R"(, "op": "x")", 14},
      {R"(, "op": "shard0:")", 14},
      {R"(, "op": "shard0:77")", 0},
      {R"(, "op": null)", 14},
      {R"(, "op": 1.5)", 2},
      {R"(, "op": {"$numberLong": "2147483648"})", 26823},
      {R"(, "op": 123456)", 0},
  };
  for (const auto& [fields, code] : cases) {
    EXPECT_EQ(CodeOfReply(Run(R"({"killOp": 1, "$db": "admin")" + std::string(fields) + "}")), code)
        << fields;
  }
}

}  // namespace
}  // namespace evenkeel::router
