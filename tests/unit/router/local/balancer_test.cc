// The balancer's switch.
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class BalancerTest : public RouterTest {};

TEST_F(BalancerTest, TheSwitchIsASetting) {
  shard(0).On("update", R"({"n": 1, "nModified": 1})");
  EXPECT_EQ(Fields(Run(R"({"balancerStop": 1, "$db": "admin"})")), "{}");
  const bson::Document sent = shard(0).RequestsOf("update")[0];
  EXPECT_EQ(sent["update"].AsString(), "settings");
  EXPECT_EQ(bson::ToJson(sent["updates"].AsDocument()["0"].AsDocument()),
            R"({"q":{"_id":"balancer"},"u":{"$set":{"mode":"off","stopped":true}},"upsert":true})");
  EXPECT_EQ(Fields(Run(R"({"balancerStart": 1, "$db": "admin"})")), "{}");
}

TEST_F(BalancerTest, AFailedChangeIsAnError) {
  shard(0).On("update",
              R"({"n": 0, "writeErrors": [{"index": 0, "code": 14031, "errmsg": "full"}]})");
  EXPECT_EQ(CodeOfReply(Run(R"({"balancerStop": 1, "$db": "admin"})")), 14031);
}

TEST_F(BalancerTest, StatusReadsTheSetting) {
  EXPECT_EQ(Run(R"({"balancerStatus": 1, "$db": "admin"})")["mode"].AsString(), "full");
  shard(0).Next("find", CursorReply(R"([{"_id": "balancer", "stopped": true}])"));
  EXPECT_EQ(Run(R"({"balancerStatus": 1, "$db": "admin"})")["mode"].AsString(), "off");
}

TEST_F(BalancerTest, CollectionStatusIsForShardedOnes) {
  AddUnsharded("db.u", ShardId{1});
  AddSharded("db.s", R"({"k": "hashed"})");
  const auto status = [this](std::string_view ns) {
    return Run("{\"balancerCollectionStatus\": \"" + std::string(ns) + "\", \"$db\": \"admin\"}");
  };
  EXPECT_TRUE(status("db.s")["balancerCompliant"].AsBool());
  EXPECT_EQ(CodeOfReply(status("db.u")), 118);
  EXPECT_EQ(CodeOfReply(status("db.absent")), 118);
}

}  // namespace
}  // namespace evenkeel::router
