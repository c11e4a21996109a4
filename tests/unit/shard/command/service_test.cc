// Tests of the service as a whole: restarts between commands, what a retryable session leaves
// behind.
#include "shard/command/service.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using storage::Table;
using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kCollection{.shard_key = R"({"a": "hashed"})",
                                 .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};

std::string Txn(int session, int number) {
  return R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0O)" +
         std::string(1, static_cast<char>('A' + session)) + R"(w==", "subType": "04"}}},
         "txnNumber": {"$numberLong": ")" +
         std::to_string(number) + R"("})";
}

TEST(Service, EverythingSurvivesARestartBetweenAnyTwoCommands) {
  for (const bool crash : {false, true}) {
    ShardFixture shard;
    const auto restart = [&] { crash ? shard.Crash() : shard.Restart(); };
    shard.Put(kCollection);
    restart();
    for (int i = 0; i < 5; ++i) {
      const std::string id = std::to_string(i);
      shard.Insert(kCollection,
                   {R"({"_id": )" + id + R"(, "a": )" + id + R"(, "b": [1, )" + id + "]}"});
      restart();
    }
    const std::string update = kCollection.Command(
        "update", R"("updates": [{"q": {"a": 2}, "u": {"$inc": {"n": 1}}}], )" + Txn(0, 1));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(shard.RunJson(update), R"({"n":1,"nModified":1})");
      restart();
    }
    EXPECT_EQ(shard.CodeOfRun(
                  kCollection.Command("delete", R"("deletes": [{"q": {"_id": 3}, "limit": 1}])")),
              0);
    restart();
    EXPECT_EQ(shard.Count(kCollection), 4);
    EXPECT_EQ(shard.Find(kCollection, R"("filter": {"n": {"$gt": 0}}, "projection": {"n": 1})"),
              std::vector<std::string>{R"({"_id":2,"n":1})"});
    EXPECT_EQ(shard.Find(kCollection, R"("filter": {"b": 1})").size(), 4u);
    EXPECT_EQ(shard.Validate(kCollection), "");
  }
}

TEST(Service, SmallTablesAreCheckpointedUnderWay) {
  ShardFixture shard({.table_bytes_max = 64 << 10});
  shard.Put(kCollection);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> documents;
    for (int i = 0; i < 40; ++i) {
      const std::string id = std::to_string(round * 40 + i);
      documents.push_back(R"({"_id": )" + id + R"(, "a": )" + id + R"(, "b": )" + id +
                          R"(, "t": ")" + std::string(100, 'x') + R"("})");
    }
    shard.Insert(kCollection, documents);
    EXPECT_EQ(shard.CodeOfRun(kCollection.Command(
                  "update", R"("updates": [{"q": {"b": {"$gte": 0}}, "u": {"$inc": {"b": 1}},
                               "multi": true}])")),
              0);
  }
  EXPECT_GT(shard.store().Stats().checkpoints, 2u);
  EXPECT_EQ(shard.Count(kCollection), 1200);
  EXPECT_EQ(shard.Validate(kCollection), "");
  shard.Restart();
  EXPECT_EQ(shard.Count(kCollection), 1200);
  EXPECT_EQ(shard.Validate(kCollection), "");
}

TEST(Service, ASessionKeepsTheRowsOfItsNewestCommandOnly) {
  ShardFixture shard;
  const TestCollection plain;
  shard.Put(plain);
  shard.Insert(plain, {R"({"_id": 1, "n": 0})"});
  for (int number = 1; number <= 50; ++number) {
    EXPECT_EQ(shard.RunJson(
                  plain.Command("update", R"("updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}},
                                           {"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}], )" +
                                              Txn(0, number))),
              R"({"n":2,"nModified":2})");
    EXPECT_EQ(shard.CountRecords(Table::kSessions), 2u);
  }
  EXPECT_EQ(shard.Find(plain), std::vector<std::string>{R"({"_id":1,"n":100})"});
  // Other sessions are left alone.
  shard.Run(plain.Command("insert", R"("documents": [{"_id": 2}], )" + Txn(1, 1)));
  EXPECT_EQ(shard.CountRecords(Table::kSessions), 3u);
}

TEST(Service, CommandsOfAClosedStoreFail) {
  ShardFixture shard;
  shard.Put(kCollection);
  ASSERT_TRUE(shard.store().Close().ok());
  EXPECT_EQ(shard.CodeOfRun(kCollection.Command("insert", R"("documents": [{"_id": 1, "a": 1}])")),
            91);
}

}  // namespace
}  // namespace evenkeel::shard
