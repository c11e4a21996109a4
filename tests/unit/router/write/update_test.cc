// Updates and deletes: targeting per statement, all shards for multi, choice for one.
#include "base/status.h"
#include "catalog/part.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class UpdateTest : public RouterTest {
 protected:
  UpdateTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
    // Of statements that are transactions.
    OnAll("_touch", "{}");
    OnAll("_applyDecision", "{}");
    OnAll("_commitTransaction", R"({"committedAt": {"$timestamp": {"t": 5, "i": 1}}})");
  }
  void OnAll(const std::string& command, std::string_view json) {
    for (uint32_t i = 0; i < 3; ++i) shard(i).On(command, json);
  }
  std::string Keyed(uint32_t shard) { return "{\"k\": " + std::to_string(KeyOn(shard)) + "}"; }
  // An update command with these statements on db.s.
  static std::string Update(const std::string& statements, const std::string& more = "") {
    return "{\"update\": \"s\", \"updates\": [" + statements + "]" + more + "}";
  }
};

TEST_F(UpdateTest, AStatementWithTheKeyGoesToItsShard) {
  OnAll("update", R"({"n": 1, "nModified": 1})");
  const bson::Document reply = Run(Update("{\"q\": " + Keyed(2) + R"(, "u": {"$set": {"x": 1}}})"));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":1})");
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{0, 0, 1}));
}

TEST_F(UpdateTest, NeighboursForOneShardShareARequest) {
  OnAll("update", R"({"n": 2, "nModified": 2})");
  const std::string to0 = "{\"q\": " + Keyed(0) + R"(, "u": {"$set": {"x": 1}}})";
  const std::string to1 = "{\"q\": " + Keyed(1) + R"(, "u": {"$set": {"x": 1}}})";
  EXPECT_EQ(CodeOfReply(Run(Update(to0 + "," + to0 + "," + to1 + "," + to0))), 0);
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{2, 1, 0}));
  EXPECT_EQ(shard(0).RequestsOf("update")[0]["updates"].AsDocument().CountFields(), 2u);
}

TEST_F(UpdateTest, MultiWithoutKeyIsSummedOverAllShards) {
  OnAll("update", R"({"n": 3, "nModified": 2})");
  const bson::Document reply = Run(Update(R"({"q": {}, "u": {"$set": {"x": 1}}, "multi": true})"));
  EXPECT_EQ(Fields(reply), R"({"n":9,"nModified":6})");
}

TEST_F(UpdateTest, AMultiThatIsStaleOnOneShardIsNotRepeatedOnTheOthers) {
  OnAll("update", R"({"n": 3, "nModified": 3})");
  shard(1).Next("update", StaleReply());
  const bson::Document reply = Run(Update(R"({"q": {}, "u": {"$inc": {"x": 1}}, "multi": true})"));
  EXPECT_EQ(Fields(reply), R"({"n":9,"nModified":9})");
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{1, 2, 1}));
}

TEST_F(UpdateTest, AMultiThatMeetsAMoveGoesOnWithWhatIsLeft) {
  OnAll("update", R"({"n": 3, "nModified": 3})");
  // It is stale on one shard, and the collection has become unsharded when the router looks again.
  shard(1).On("update", [this](bson::View) {
    AddUnsharded("db.s", ShardId{2});
    return StaleReply();
  });
  const bson::Document reply = Run(Update(R"({"q": {}, "u": {"$inc": {"x": 1}}, "multi": true})"));
  EXPECT_EQ(Fields(reply), R"({"n":9,"nModified":9})");
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{1, 1, 2}));
  const std::vector<bson::Document> sent = shard(2).RequestsOf("update");
  EXPECT_TRUE(sent[0]["$shard"].AsDocument()["o"].missing());
  std::vector<catalog::Part> parts;
  for (const auto& [index, part] : sent[1]["$shard"].AsDocument()["o"].AsDocument()) {
    parts.push_back(*catalog::Part::FromBson(part.AsDocument()));
  }
  ASSERT_EQ(parts.size(), 2u);
  for (int32_t key = 0; key < 50; ++key) {
    const bson::Document row = Json("{\"k\": " + std::to_string(key) + "}");
    const bool left = parts[0].Contains(row.view()) && parts[1].Contains(row.view());
    EXPECT_EQ(left, OwnerOf(key) == 1) << key;
  }
}

TEST_F(UpdateTest, OneDocumentWithoutKeyIsChosenAndWrittenOnCondition) {
  OnAll("_choose", R"({"found": false})");
  shard(2).On("_choose",
              R"({"found": true, "t": {"$binary": {"base64": "QUI=", "subType": "00"}}})");
  OnAll("update", R"({"n": 1, "nModified": 1})");
  const bson::Document reply = Run(Update(R"({"q": {"x": 1}, "u": {"$set": {"y": 1}}})"));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":1})");
  EXPECT_EQ(CountsOf("_choose"), (std::vector<size_t>{1, 1, 1}));
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{0, 0, 1}));
  const bson::Document sent = shard(2).RequestsOf("update")[0];
  EXPECT_EQ(sent["$shard"].AsDocument()["t"].AsBinary().bytes, "AB");
}

TEST_F(UpdateTest, AMissedChoiceIsMadeAgain) {
  OnAll("_choose", R"({"found": false})");
  shard(0).On("_choose",
              R"({"found": true, "t": {"$binary": {"base64": "QUI=", "subType": "00"}}})");
  shard(0).Next("update", R"({"n": 0, "nModified": 0, "missed": true})");
  shard(0).Next("update", R"({"n": 1, "nModified": 1})");
  const bson::Document reply = Run(Update(R"({"q": {"x": 1}, "u": {"$set": {"y": 1}}})"));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":1})");
  EXPECT_EQ(CountsOf("_choose"), (std::vector<size_t>{2, 2, 2}));
}

TEST_F(UpdateTest, NothingFoundIsNothingDone) {
  OnAll("_choose", R"({"found": false})");
  EXPECT_EQ(Fields(Run(Update(R"({"q": {"x": 1}, "u": {"$set": {"y": 1}}})"))),
            R"({"n":0,"nModified":0})");
}

TEST_F(UpdateTest, ARecordOfAnEarlierAttemptIsTheAnswer) {
  OnAll("_findRecord", R"({"found": false})");
  shard(1).On("_findRecord", R"({"found": true, "kind": 2, "result": {"n": 1, "nModified": 1}})");
  const bson::Document reply =
      Run(Update(R"({"q": {"x": 1}, "u": {"$set": {"y": 1}}})", ", " + std::string(kRetryable)));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":1})");
  EXPECT_EQ(CountsOf("_choose"), (std::vector<size_t>{0, 0, 0}));
  EXPECT_EQ(shard(0).RequestsOf("_findRecord")[0]["statement"].AsInt32(), 0);
}

TEST_F(UpdateTest, RetryableMultisAreRefused) {
  EXPECT_EQ(CodeOfReply(Run(Update(R"({"q": {}, "u": {"$set": {"y": 1}}, "multi": true})",
                                   ", " + std::string(kRetryable)))),
            72);
}

TEST_F(UpdateTest, AMultiMustNotReplace) {
  const bson::Document reply = Run(Update(R"({"q": {}, "u": {"a": 2}, "multi": true})"));
  EXPECT_EQ(reply["writeErrors"].AsDocument()["0"].AsDocument()["code"].AsInt32(), 9);
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{0, 0, 0}));
}

TEST_F(UpdateTest, AnUpsertWithTheKeyIsTheShardsWork) {
  shard(1).On("update", R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": 5}]})");
  const bson::Document reply =
      Run(Update("{\"q\": " + Keyed(1) + R"(, "u": {"$set": {"x": 1}}, "upsert": true})"));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":0,"upserted":[{"index":0,"_id":5}]})");
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{0, 1, 0}));
}

TEST_F(UpdateTest, AKeylessUpsertInsertsOnTheShardOfItsNewKey) {
  OnAll("_choose", R"({"found": false})");
  OnAll("update", R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": 9}]})");
  const int32_t key = KeyOn(2);
  const bson::Document reply =
      Run(Update("{\"q\": {\"_id\": 9}, \"u\": {\"$set\": {\"k\": " + std::to_string(key) +
                 "}}, \"upsert\": true}"));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":0,"upserted":[{"index":0,"_id":9}]})");
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{0, 0, 1}));
  const bson::Document sent = shard(2).RequestsOf("update")[0];
  const bson::View statement = sent["updates"].AsDocument()["0"].AsDocument();
  EXPECT_EQ(bson::ToJson(statement["u"].AsDocument()),
            "{\"_id\":9,\"k\":" + std::to_string(key) + "}");
  EXPECT_TRUE(statement["upsert"].AsBool());
}

TEST_F(UpdateTest, AnUpsertThatChangesItsKeyFirstTriesToUpdate) {
  OnAll("update", R"({"n": 0, "nModified": 0})");
  shard(2).On("update", R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": 9}]})");
  const bson::Document reply =
      Run(Update("{\"q\": {\"k\": " + std::to_string(KeyOn(1)) +
                 ", \"_id\": 9}, \"u\": {\"$set\": {\"k\": " + std::to_string(KeyOn(2)) +
                 "}}, \"upsert\": true}"));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":0,"upserted":[{"index":0,"_id":9}]})");
  EXPECT_EQ(CountsOf("update"), (std::vector<size_t>{0, 1, 1}));
  EXPECT_FALSE(shard(1).RequestsOf("update")[0]["updates"].AsDocument()["0"].AsDocument().Contains(
      "upsert"));
}

TEST_F(UpdateTest, ADuplicateIsTheUpsertsError) {
  OnAll("_choose", R"({"found": false})");
  OnAll(
      "update",
      R"({"n": 0, "nModified": 0, "writeErrors": [{"index": 0, "code": 11000, "errmsg": "dup"}]})");
  const std::string command =
      Update("{\"q\": {\"_id\": 9}, \"u\": {\"$set\": {\"k\": 1}}, \"upsert\": true}");
  const bson::Document reply = Run(command);
  EXPECT_EQ(reply["writeErrors"].AsDocument()["0"].AsDocument()["code"].AsInt32(), 11000);
  EXPECT_EQ(CountsOf("_choose"), (std::vector<size_t>{1, 1, 1}));
  EXPECT_EQ(CountsOf("_commitTransaction"), (std::vector<size_t>{0, 0, 0}));
}

TEST_F(UpdateTest, AConflictBeginsTheUpsertAgainWithANewSnapshot) {
  OnAll("_choose", R"({"found": false})");
  OnAll("update", R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": 9}]})");
  const auto conflict = FailedReply(MakeError(ErrorCode::kWriteConflict, "a conflict"));
  for (uint32_t i = 0; i < 3; ++i) shard(i).Next("_touch", bson::Document(conflict.view()));
  const bson::Document reply =
      Run(Update(R"({"q": {"_id": 9}, "u": {"$set": {"k": 1}}, "upsert": true})"));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":0,"upserted":[{"index":0,"_id":9}]})");
  std::vector<bson::Document> touches;
  for (uint32_t i = 0; i < 3; ++i) {
    for (bson::Document& touch : shard(i).RequestsOf("_touch")) touches.push_back(std::move(touch));
  }
  ASSERT_EQ(touches.size(), 2u);
  EXPECT_FALSE(touches[0]["touch"].AsDocument()["0"].AsDocument()["ends"].AsBool());
  const auto session = [&touches](size_t i) {
    return touches[i]["$txn"].AsDocument()["lsid"].AsDocument()["id"].AsBinary().bytes;
  };
  EXPECT_NE(session(0), session(1));
}

TEST_F(UpdateTest, ARetryableStatementWithoutKeyIsATransactionOfItsOwn) {
  OnAll("_findRecord", R"({"found": false})");
  OnAll("_choose", R"({"found": false})");
  shard(2).On("_choose",
              R"({"found": true, "t": {"$binary": {"base64": "QUI=", "subType": "00"}}})");
  OnAll("update", R"({"n": 1, "nModified": 1, "$txn": {"wrote": true}})");
  const bson::Document reply =
      Run(Update(R"({"q": {"x": 1}, "u": {"$set": {"y": 1}}})", ", " + std::string(kRetryable)));
  EXPECT_EQ(Fields(reply), R"({"n":1,"nModified":1})");
  size_t touches = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    const bson::Document sent = shard(i).RequestsOf("_findRecord")[0];
    EXPECT_TRUE(sent["$txn"].AsDocument()["records"].AsBool());
    for (const auto& [key, touch] : sent["touch"].AsDocument()) {
      EXPECT_TRUE(touch.AsDocument()["ends"].AsBool());
      ++touches;
    }
  }
  EXPECT_EQ(touches, 1u);
  EXPECT_EQ(CountsOf("_commitTransaction"), (std::vector<size_t>{0, 0, 1}));
}

TEST_F(UpdateTest, KeylessUpsertsWithOneFilterRunOneAtATime) {
  OnAll("_choose", R"({"found": false})");
  for (uint32_t i = 0; i < 3; ++i) Hold(i, "_choose");
  OnAll("update", R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": 9}]})");
  const auto command = [](int id) {
    return Update("{\"q\": {\"_id\": " + std::to_string(id) +
                  R"(}, "u": {"$set": {"k": 1}}, "upsert": true})");
  };
  const auto first = Begin(command(9)), second = Begin(command(9)), other = Begin(command(8));
  Poll();
  EXPECT_EQ(CountsOf("_choose"), (std::vector<size_t>{2, 2, 2}));
  Release();
  for (const auto& pending : {first, second, other}) Finish(*pending);
  EXPECT_EQ(CountsOf("_choose"), (std::vector<size_t>{3, 3, 3}));
}

TEST_F(UpdateTest, AnAbsentCollectionHasNothingToUpdate) {
  EXPECT_EQ(Fields(Run(R"({"update": "absent", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]})")),
            R"({"n":0,"nModified":0})");
  const bson::Document bad =
      Run(R"({"update": "absent", "updates": [{"q": {}, "u": {"$noSuch": {"a": 1}}}]})");
  EXPECT_EQ(bad["writeErrors"].AsDocument()["0"].AsDocument()["code"].AsInt32(), 9);
}

TEST_F(UpdateTest, DeletesGoTheSameWays) {
  OnAll("delete", R"({"n": 2})");
  EXPECT_EQ(Fields(Run(R"({"delete": "s", "deletes": [{"q": {}, "limit": 0}]})")), R"({"n":6})");
  ForgetRequests();
  EXPECT_EQ(CodeOfReply(
                Run("{\"delete\": \"s\", \"deletes\": [{\"q\": " + Keyed(1) + ", \"limit\": 1}]}")),
            0);
  EXPECT_EQ(CountsOf("delete"), (std::vector<size_t>{0, 1, 0}));
  ForgetRequests();
  OnAll("_choose", R"({"found": false})");
  EXPECT_EQ(Fields(Run(R"({"delete": "s", "deletes": [{"q": {"x": 1}, "limit": 1}]})")),
            R"({"n":0})");
  EXPECT_EQ(CountsOf("delete"), (std::vector<size_t>{0, 0, 0}));
}

TEST_F(UpdateTest, UnorderedGoesOnAfterAFailedStatement) {
  OnAll("update", R"({"n": 1, "nModified": 1})");
  shard(1).Next(
      "update",
      R"({"n": 0, "nModified": 0, "writeErrors": [{"index": 0, "code": 2, "errmsg": "x"}]})");
  const std::string set = R"(, "u": {"$set": {"x": 1}}})";
  const bson::Document reply = Run(
      Update("{\"q\": " + Keyed(1) + set + ",{\"q\": " + Keyed(2) + set, ", \"ordered\": false"));
  EXPECT_EQ(Fields(reply),
            R"({"n":1,"nModified":1,"writeErrors":[{"index":0,"code":2,"errmsg":"x"}]})");
}

}  // namespace
}  // namespace evenkeel::router
