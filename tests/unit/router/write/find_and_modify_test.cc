// findAndModify: passed through, chosen, upserted, replayed.
#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

constexpr std::string_view kNothing =
    R"({"lastErrorObject":{"n":0,"updatedExisting":false},"value":null})";

class FindAndModifyTest : public RouterTest {
 protected:
  FindAndModifyTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On("_choose", R"({"found": false})");
      // Of statements that are transactions.
      shard(i).On("_touch", "{}");
      shard(i).On("_applyDecision", "{}");
      shard(i).On("_commitTransaction", R"({"committedAt": {"$timestamp": {"t": 5, "i": 1}}})");
    }
  }
};

TEST_F(FindAndModifyTest, OneShardIsPassedThrough) {
  shard(1).On("findAndModify",
              R"({"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1}})");
  const bson::Document reply = Run(
      R"({"findandmodify": "u", "query": {"x": 1}, "update": {"$set": {"y": 1}}, "upsert": true})");
  EXPECT_EQ(Fields(reply),
            R"({"lastErrorObject":{"n":1,"updatedExisting":true},"value":{"_id":1}})");
  EXPECT_TRUE(shard(1).RequestsOf("findAndModify")[0]["upsert"].AsBool());
}

TEST_F(FindAndModifyTest, NothingToModify) {
  const std::string command = R"(, "query": {"x": 1}, "update": {"$set": {"y": 1}}})";
  EXPECT_EQ(Fields(Run(R"({"findAndModify": "absent")" + command)), kNothing);
  EXPECT_EQ(Fields(Run(R"({"findAndModify": "s")" + command)), kNothing);
  EXPECT_EQ(Fields(Run(R"({"findAndModify": "s", "query": {"x": 1}, "remove": true})")),
            R"({"lastErrorObject":{"n":0},"value":null})");
}

TEST_F(FindAndModifyTest, AKeylessOneIsChosenBySort) {
  shard(0).On(
      "_choose",
      R"({"found": true, "t": {"$binary": {"base64": "QQ==", "subType": "00"}}, "sortKey": [9]})");
  shard(2).On(
      "_choose",
      R"({"found": true, "t": {"$binary": {"base64": "Qg==", "subType": "00"}}, "sortKey": [4]})");
  shard(2).On("findAndModify", R"({"lastErrorObject": {"n": 1}, "value": {"_id": 3}})");
  const bson::Document reply =
      Run(R"({"findAndModify": "s", "query": {"x": 1}, "sort": {"a": 1}, "remove": true})");
  EXPECT_EQ(Fields(reply), R"({"lastErrorObject":{"n":1},"value":{"_id":3}})");
  EXPECT_EQ(bson::ToJson(shard(0).RequestsOf("_choose")[0]["sort"].AsDocument()), R"({"a":1})");
}

TEST_F(FindAndModifyTest, AKeylessUpsertMakesItsDocumentHere) {
  for (uint32_t i = 0; i < 3; ++i) {
    shard(i).On("update", R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": 7}]})");
  }
  const std::string command =
      R"({"findAndModify": "s", "query": {"_id": 7}, "update": {"$set": {"k": 5, "x": 1}},)"
      R"( "upsert": true)";
  EXPECT_EQ(Fields(Run(command + "}")),
            R"({"lastErrorObject":{"n":1,"updatedExisting":false,"upserted":7},"value":null})");
  EXPECT_EQ(Fields(Run(command + R"(, "new": true, "fields": {"x": 1}})")),
            R"({"lastErrorObject":{"n":1,"updatedExisting":false,"upserted":7},"value":{"_id":7,)"
            R"("x":1}})");
  EXPECT_EQ(shard(OwnerOf(5)).RequestsOf("update").size(), 2u);
}

TEST_F(FindAndModifyTest, ARecordIsTheAnswer) {
  for (uint32_t i = 0; i < 3; ++i) shard(i).On("_findRecord", R"({"found": false})");
  shard(2).On("_findRecord", R"({"found": true, "kind": 4, "result": {"lastErrorObject": {"n": 1},)"
                             R"( "value": {"_id": 1}}})");
  const bson::Document reply = Run(R"({"findAndModify": "s", "query": {"x": 1}, "remove": true, )" +
                                   std::string(kRetryable) + "}");
  EXPECT_EQ(Fields(reply), R"({"lastErrorObject":{"n":1},"value":{"_id":1}})");
}

TEST_F(FindAndModifyTest, TheRecordOfAnUpsertIsTurnedIntoItsReply) {
  for (uint32_t i = 0; i < 3; ++i) shard(i).On("_findRecord", R"({"found": false})");
  shard(2).On("_findRecord", R"({"found": true, "kind": 2,
      "result": {"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": 7}]}})");
  const bson::Document reply =
      Run(R"({"findAndModify": "s", "query": {"_id": 7}, "update": {"$set": {"k": 5}},)"
          R"( "upsert": true, )" +
          std::string(kRetryable) + "}");
  EXPECT_EQ(Fields(reply),
            R"({"lastErrorObject":{"n":1,"updatedExisting":false,"upserted":7},"value":null})");
}

TEST_F(FindAndModifyTest, StaleRoutesAreRepeated) {
  shard(1).Next("findAndModify", StaleReply());
  shard(1).On("findAndModify", R"({"lastErrorObject": {"n": 1}, "value": {"_id": 1}})");
  EXPECT_EQ(CodeOfReply(Run(R"({"findAndModify": "u", "query": {}, "remove": true})")), 0);
}

}  // namespace
}  // namespace evenkeel::router
