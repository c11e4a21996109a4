// addShard and removeShard over a catalog that tests see into.
#include <map>

#include "base/status.h"
#include "catalog/assignment.h"
#include "catalog/config_collections.h"
#include "router/members/shard_row.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

constexpr std::string_view kCluster = "twelve bytes";

class MembersTest : public AwaitTest {
 protected:
  MembersTest() : AwaitTest(2) {
    state().cluster_id = std::string(kCluster);
    shard(0).On("find", [this](bson::View request) { return Find(request); });
    shard(0).On("_commitCatalog", [this](bson::View request) { return Commit(request); });
    for (uint32_t i = 0; i < 2; ++i) {
      Row("shards", NewShardRow(ShardId{i}, "127.0.0.1:27017", Timestamp{}));
      shard(i).On("_listPrepared", R"({"prepared": [], "decisions": []})");
    }
    Row("sequences", ShardSequenceRow(2));
    Row("assignments", catalog::Assignment::Equal("default", 2).ToBson());
  }

  void Row(const std::string& collection, bson::Document row) {
    const std::string id(row["_id"].AsString());
    config_[collection][id] = std::move(row);
  }
  bool Has(const std::string& collection, const std::string& id) {
    return config_[collection].contains(id);
  }
  // An empty shard that waits, and keeps what it is told.
  FakeShard& NewProcess(const std::string& host) {
    FakeShard& process = AddProcess(host);
    process.On("_processInfo", R"({"version": "1"})");
    process.On("_listPrepared", R"({"prepared": [], "decisions": []})");
    process.On("_initShard", [&process](bson::View request) {
      SetIdentity(process, request["shard"].AsInt32(), request["clusterId"].AsObjectId());
      return bson::Document();
    });
    return process;
  }
  static void SetIdentity(FakeShard& process, int32_t shard, std::string_view cluster) {
    bson::Builder info;
    info.Append("shard", shard);
    if (!cluster.empty()) info.AppendObjectId("clusterId", cluster);
    process.On("_processInfo", [reply = info.Finish()](bson::View) { return reply; });
    process.On("_initShard", [](bson::View) {
      return FailedReply(MakeError(ErrorCode::kAlreadyInitialized, "another shard"));
    });
  }
  bson::Document Add(const std::string& host, const std::string& more = "") {
    return Run(R"({"addShard": ")" + host + R"(", "$db": "admin")" + more + "}");
  }
  bson::Document Do(const std::string& command, const std::string& shard) {
    return Run(R"({")" + command + R"(": ")" + shard + R"(", "$db": "admin"})");
  }

 private:
  static std::string NameOf(bson::View row) {
    const auto id = static_cast<uint64_t>(row["c"].AsInt64());
    for (const auto& entry : catalog::ConfigCollections()) {
      if (entry->id.value == id) return entry->ns.substr(7);
    }
    return "";
  }
  bson::Document Find(bson::View request) {
    bson::Builder reply;
    reply.OpenDocument("cursor").OpenArray("firstBatch");
    bson::ArrayAppender array(reply);
    const bson::Value wanted = request["filter"].AsDocument()["_id"];
    for (const auto& [id, row] : config_[std::string(request["find"].AsString())]) {
      if (wanted.missing() || wanted.AsString() == id) array.Add(row);
    }
    reply.Close().Append("id", int64_t{0}).Append("ns", "config").Close();
    return reply.Finish();
  }
  bson::Document Commit(bson::View request) {
    for (const auto& [key, value] : request["expect"].AsDocument()) {
      const bson::View row = value.AsDocument();
      auto& rows = config_[NameOf(row)];
      const auto found = rows.find(std::string(row["_id"].AsString()));
      bool holds = true;
      if (row.Contains("exists")) holds = row["exists"].AsBool() == (found != rows.end());
      if (row.Contains("version")) {
        holds =
            found != rows.end() && found->second["version"].AsInt64() == row["version"].AsInt64();
      }
      if (!holds)
        return FailedReply(MakeError(ErrorCode::kConflictingOperationInProgress, "changed"));
    }
    for (const auto& [key, value] : request["writes"].AsDocument()) {
      const bson::View row = value.AsDocument();
      auto& rows = config_[NameOf(row)];
      const std::string id(row["_id"].AsString());
      if (!row.Contains("d")) {
        rows.erase(id);
      } else {
        rows[id] = bson::Document(row["d"].AsDocument());
      }
    }
    return {};
  }

  std::map<std::string, std::map<std::string, bson::Document>> config_;
};

TEST_F(MembersTest, AShardIsAddedAndReached) {
  FakeShard& process = NewProcess("h:1");
  EXPECT_EQ(Fields(Add("h:1")), R"({"shardAdded":"shard2"})");
  EXPECT_EQ(state().cluster->AllShards().size(), 3u);
  EXPECT_FALSE(Has("sequences", "shard2")) << "nobody waits for it any more";
  ASSERT_EQ(process.RequestsOf("_initShard").size(), 1u);
  EXPECT_EQ(Fields(Add("shard2/h:1")), R"({"shardAdded":"shard2"})");
  EXPECT_EQ(process.RequestsOf("_initShard").size(), 1u);
  (void)NewProcess("h:2");
  EXPECT_EQ(Fields(Add("h:2", R"(, "name": "shard3")")), R"({"shardAdded":"shard3"})");
}

TEST_F(MembersTest, AfterEachStepItCanBeRepeated) {
  FakeShard& process = NewProcess("h:1");
  process.BreakNext("_initShard", MakeError(ErrorCode::kNetworkTimeout, "lost"));
  EXPECT_EQ(CodeOfReply(Add("h:1")), 96);
  EXPECT_EQ(Fields(Add("h:1")), R"({"shardAdded":"shard3"})") << "number 2 is lost";
  FakeShard& other = NewProcess("h:2");
  // The catalog's shard goes between the identity and the row.
  other.On("_initShard", [this, &other](bson::View request) {
    shard(0).BreakNext("_commitCatalog", MakeError(ErrorCode::kHostUnreachable, "gone"));
    SetIdentity(other, request["shard"].AsInt32(), kCluster);
    other.On("_initShard", "{}");
    return bson::Document();
  });
  EXPECT_EQ(CodeOfReply(Add("h:2")), 6);
  EXPECT_EQ(Fields(Add("h:2")), R"({"shardAdded":"shard4"})");
}

TEST_F(MembersTest, AnIdentityThatIsWaitedForIsTakenUp) {
  FakeShard& process = NewProcess("h:1");
  bson::Builder waiting;
  waiting.Append("_id", "shard7").Append("version", int64_t{1});
  Row("sequences", waiting.Finish());
  SetIdentity(process, 7, kCluster);
  process.On("_initShard", "{}");
  EXPECT_EQ(Fields(Add("h:1")), R"({"shardAdded":"shard7"})");
  EXPECT_FALSE(Has("sequences", "shard7"));
}

TEST_F(MembersTest, AnotherRouterIsFaster) {
  FakeShard& process = NewProcess("h:1");
  // It has added the process between our look at it and our number.
  process.On("_initShard", [this, &process](bson::View) {
    Row("shards", NewShardRow(ShardId{9}, "h:1", Timestamp{}));
    SetIdentity(process, 9, kCluster);
    return FailedReply(MakeError(ErrorCode::kAlreadyInitialized, "another shard"));
  });
  EXPECT_EQ(Fields(Add("h:1")), R"({"shardAdded":"shard9"})");
}

TEST_F(MembersTest, WhatCannotBeAdded) {
  EXPECT_EQ(CodeOfReply(Add("nobody:1")), 20);
  SetIdentity(NewProcess("other:1"), 2, "other  bytes");
  EXPECT_EQ(CodeOfReply(Add("other:1")), 96) << "of another cluster";
  SetIdentity(NewProcess("removed:1"), 1, kCluster);
  EXPECT_EQ(CodeOfReply(Add("removed:1")), 20) << "a member at another address";
  SetIdentity(NewProcess("old:1"), 5, kCluster);
  EXPECT_EQ(CodeOfReply(Add("old:1")), 96) << "it was removed once";
  (void)NewProcess("h:1");
  EXPECT_EQ(CodeOfReply(Add("h:1", R"(, "name": "mine")")), 2);
  EXPECT_EQ(CodeOfReply(Add("shard3/h:1", R"(, "name": "shard2")")), 2);
  EXPECT_EQ(CodeOfReply(Add("h:1,h:2")), 2);
  EXPECT_EQ(CodeOfReply(Add("h")), 2);
  EXPECT_EQ(CodeOfReply(Run(R"({"addShard": "h:1", "size": 1, "$db": "admin"})")), 40415);
  EXPECT_EQ(state().cluster->AllShards().size(), 2u);
}

TEST_F(MembersTest, ACallToAnUnknownShardLooksForIt) {
  NewProcess("h:4").On("x", R"({"y": 1})");
  const auto call = [this](uint32_t shard) {
    return Await(
        state().cluster->Call(ShardId{shard}, Json(R"({"x": 1})"), absl::InfiniteFuture(), {}));
  };
  EXPECT_EQ(CodeOf(call(4).status()), ErrorCode::kStaleConfig);
  Row("shards", NewShardRow(ShardId{4}, "h:4", Timestamp{}));
  EXPECT_EQ(state().cluster->FindShard("shard4"), std::nullopt);
  EXPECT_TRUE(call(4).ok());
  EXPECT_EQ(state().cluster->FindShard("shard4"), ShardId{4});
}

TEST_F(MembersTest, AnEmptyShardIsRemovedByAskingTwice) {
  (void)NewProcess("h:1");
  (void)Add("h:1");
  const bson::Document started = Do("removeShard", "shard2");
  EXPECT_EQ(started["state"].AsString(), "started");
  EXPECT_TRUE(state().cluster->members()->at(ShardId{2}).row.draining);
  EXPECT_EQ(Do("removeShard", "shard2")["state"].AsString(), "completed");
  EXPECT_FALSE(Has("shards", "shard2"));
  EXPECT_EQ(state().cluster->AllShards().size(), 2u);
  EXPECT_EQ(CodeOfReply(Do("removeShard", "shard2")), 70);
}

TEST_F(MembersTest, WhatKeepsAShard) {
  const bson::Document started = Do("startShardDraining", "shard1");
  EXPECT_EQ(started["ok"].AsDouble(), 1);
  bson::Document status = Do("shardDrainingStatus", "shard1");
  EXPECT_EQ(status["state"].AsString(), "ongoing");
  EXPECT_EQ(status["remaining"].AsDocument()["chunks"].AsInt64(), 1);
  EXPECT_EQ(CodeOfReply(Do("commitShardRemoval", "shard1")), 20);
  Row("assignments", catalog::Assignment::Equal("default", 1).ToBson());
  EXPECT_EQ(Do("shardDrainingStatus", "shard1")["state"].AsString(), "drainingComplete");
  // A transaction elsewhere waits for its decision.
  shard(0).On("_listPrepared", R"({"prepared": [{"coordinator": 1}], "decisions": [{}]})");
  status = Do("shardDrainingStatus", "shard1");
  EXPECT_EQ(status["remaining"].AsDocument()["transactions"].AsInt64(), 1);
  shard(0).On("_listPrepared", R"({"prepared": [], "decisions": []})");
  Row("jobs", Json(R"({"_id": "db.c"})"));
  EXPECT_EQ(CodeOfReply(Do("commitShardRemoval", "shard1")), 20);
}

TEST_F(MembersTest, DrainingCanBeTakenBack) {
  EXPECT_EQ(CodeOfReply(Do("commitShardRemoval", "shard1")), 20) << "it is not draining";
  EXPECT_EQ(CodeOfReply(Do("shardDrainingStatus", "shard1")), 20);
  (void)Do("startShardDraining", "shard1");
  (void)Do("startShardDraining", "shard1");
  EXPECT_EQ(state().cluster->members()->at(ShardId{1}).row.version, 2);
  (void)Do("stopShardDraining", "shard1");
  EXPECT_FALSE(state().cluster->members()->at(ShardId{1}).row.draining);
}

TEST_F(MembersTest, TheShardOfTheCatalogStays) {
  for (const char* command : {"removeShard", "startShardDraining", "commitShardRemoval"}) {
    EXPECT_EQ(CodeOfReply(Do(command, "shard0")), 20) << command;
    EXPECT_EQ(CodeOfReply(Do(command, "shard9")), 70) << command;
    EXPECT_EQ(CodeOfReply(Do(command, "rs0")), 70) << command;
  }
}

}  // namespace
}  // namespace evenkeel::router
