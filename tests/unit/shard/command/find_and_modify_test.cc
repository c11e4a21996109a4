// Tests of findAndModify: images, sort, remove, upsert, repeated commands.
#include "shard/command/find_and_modify.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kCollection{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})",
                                             R"({"key": {"u": 1}, "name": "u_1", "unique": true,
                                                 "sparse": true})"}};
const std::vector<std::string> kThree = {R"({"_id": 1, "a": 1, "u": 1})", R"({"_id": 2, "a": 2})",
                                         R"({"_id": 3, "a": 1})"};

std::string Txn(int number) {
  return R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}},
            "txnNumber": {"$numberLong": ")" +
         std::to_string(number) + R"("})";
}

std::string RunIt(ShardFixture& shard, const std::string& rest) {
  const bson::Document reply = shard.Run(kCollection.Command("findAndModify", rest));
  return reply["code"].missing() ? bson::ToJson(reply) : "code " + Field(reply, "code");
}

TEST(FindAndModify, ImagesAndCounts) {
  struct Case {
    std::string rest, expected;
    int64_t count;
  };
  const Case cases[] = {
      {R"("query": {"_id": 1}, "update": {"$set": {"a": 5}})",
       R"({"lastErrorObject":{"n":1,"updatedExisting":true},"value":{"_id":1,"a":1,"u":1}})", 3},
      {R"("query": {"_id": 1}, "update": {"$set": {"a": 5}}, "new": true)",
       R"({"lastErrorObject":{"n":1,"updatedExisting":true},"value":{"_id":1,"a":5,"u":1}})", 3},
      {R"("query": {"a": 1}, "sort": {"_id": -1}, "update": {"$inc": {"a": 1}}, "new": true)",
       R"({"lastErrorObject":{"n":1,"updatedExisting":true},"value":{"_id":3,"a":2}})", 3},
      {R"("query": {}, "sort": {"a": -1, "_id": 1}, "update": {"b": 1})",
       R"({"lastErrorObject":{"n":1,"updatedExisting":true},"value":{"_id":2,"a":2}})", 3},
      {R"("query": {"_id": 1}, "update": {"$set": {"a": 1}}, "new": true)",
       R"({"lastErrorObject":{"n":1,"updatedExisting":true},"value":{"_id":1,"a":1,"u":1}})", 3},
      {R"("query": {"_id": 1}, "update": {"a": 9}, "fields": {"_id": 0, "a": 1}, "new": true)",
       R"({"lastErrorObject":{"n":1,"updatedExisting":true},"value":{"a":9}})", 3},
      {R"("query": {"_id": 9}, "update": {"a": 9})",
       R"({"lastErrorObject":{"n":0,"updatedExisting":false},"value":null})", 3},
      {R"("query": {"_id": 9}, "update": {"$set": {"a": 9}}, "upsert": true)",
       R"({"lastErrorObject":{"n":1,"updatedExisting":false,"upserted":9},"value":null})", 4},
      {R"("query": {"_id": 9}, "update": {"$set": {"a": 9}}, "upsert": true, "new": true)",
       R"({"lastErrorObject":{"n":1,"updatedExisting":false,"upserted":9},)"
       R"("value":{"_id":9,"a":9}})",
       4},
      {R"("query": {"_id": 2}, "remove": true)",
       R"({"lastErrorObject":{"n":1},"value":{"_id":2,"a":2}})", 2},
      {R"("query": {"a": 1}, "sort": {"_id": -1}, "remove": true)",
       R"({"lastErrorObject":{"n":1},"value":{"_id":3,"a":1}})", 2},
      {R"("query": {"a": 7}, "remove": true)", R"({"lastErrorObject":{"n":0},"value":null})", 3},
      {R"("query": {"_id": 2}, "update": {"$set": {"u": 1}})", "code 11000", 3},
      {R"("query": {"_id": 2}, "update": {"$set": {"_id": 4}})", "code 66", 3},
      {R"("query": {"_id": 2}, "update": {"a": 1}, "remove": true)", "code 9", 3},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    shard.Put(kCollection);
    shard.Insert(kCollection, kThree);
    EXPECT_EQ(RunIt(shard, c.rest), c.expected) << c.rest;
    EXPECT_EQ(shard.Count(kCollection), c.count) << c.rest;
    EXPECT_EQ(shard.Validate(kCollection), "") << c.rest;
  }
}

TEST(FindAndModify, ARepeatedCommandGivesTheSameImage) {
  const std::string cases[] = {
      R"("query": {"a": 1}, "sort": {"_id": 1}, "update": {"$inc": {"a": 1}})",
      R"("query": {"a": 1}, "sort": {"_id": 1}, "update": {"$inc": {"a": 1}}, "new": true)",
      R"("query": {"a": 1}, "sort": {"_id": 1}, "remove": true)",
      R"("query": {"_id": 9}, "update": {"$set": {"a": 9}}, "upsert": true, "new": true)",
      R"("query": {"_id": 9}, "update": {"$set": {"a": 9}}, "upsert": true)",
      R"("query": {"_id": 2}, "update": {"$inc": {"a": 1}}, "fields": {"a": 1})",
  };
  for (const std::string& rest : cases) {
    ShardFixture shard;
    shard.Put(kCollection);
    shard.Insert(kCollection, kThree);
    const std::string first = RunIt(shard, rest + ", " + Txn(3));
    const int64_t count = shard.Count(kCollection);
    const auto rows = shard.Find(kCollection);
    EXPECT_EQ(RunIt(shard, rest + ", " + Txn(3)), first) << rest;
    shard.Restart();
    EXPECT_EQ(RunIt(shard, rest + ", " + Txn(3)), first) << rest;
    EXPECT_EQ(shard.Count(kCollection), count) << rest;
    EXPECT_EQ(shard.Find(kCollection), rows) << rest;
    EXPECT_EQ(RunIt(shard, rest + ", " + Txn(2)), "code 225") << rest;
  }
}

// Workers that take jobs: each gets another one, none goes away with nothing.
TEST(FindAndModify, ManyAtOnceTakeDifferentDocuments) {
  ShardFixture shard;
  shard.Put(kCollection);
  std::vector<std::string> documents;
  for (int i = 0; i < 60; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": 0, "t": )" +
                        std::to_string(60 - i) + "}");
  }
  shard.Insert(kCollection, documents);
  std::vector<std::future<bson::Document>> running;
  for (int i = 0; i < 60; ++i) {
    running.push_back(shard.Start(kCollection.Command(
        "findAndModify", R"("query": {"a": 0}, "sort": {"t": 1}, "update": {"$set": {"a": 1}})")));
  }
  std::set<std::string> taken;
  for (auto& one : running) taken.insert(Field(one.get(), "value._id"));
  EXPECT_EQ(taken.size(), 60u);
  EXPECT_EQ(taken.count("missing"), 0u);
  EXPECT_EQ(shard.Validate(kCollection), "");
}

// An error is computed from state that a crash may still take away.
TEST(FindAndModify, ErrorsWaitForDurabilityToo) {
  ShardFixture shard;
  shard.Put(kCollection);
  shard.Insert(kCollection, {kThree[1]});
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  auto insert =
      shard.StartWrite(kCollection.Command("insert", R"("documents": [{"_id": 7, "u": 1}])"));
  shard.Write([](storage::WriteContext&) {}, false);
  auto modify = shard.Start(
      kCollection.Command("findAndModify", R"("query": {"_id": 2}, "update": {"$set": {"u": 1}})"));
  shard.Write([](storage::WriteContext&) {}, false);
  EXPECT_EQ(modify.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  shard.log.CommitUpTo(shard.log.last());
  EXPECT_EQ(Field(modify.get(), "code"), "11000");
  EXPECT_EQ(Field(insert.get(), "n"), "1");
}

TEST(FindAndModify, ADuplicateHasItsDetails) {
  ShardFixture shard;
  shard.Put(kCollection);
  shard.Insert(kCollection, kThree);
  const bson::Document reply = shard.Run(
      kCollection.Command("findAndModify", R"("query": {"_id": 2}, "update": {"$set": {"u": 1}})"));
  EXPECT_EQ(Field(reply, "keyPattern"), R"({"u":1})");
  EXPECT_EQ(Field(reply, "keyValue"), R"({"u":1})");
}

TEST(FindAndModify, OldVersions) {
  ShardFixture shard;
  TestCollection collection = kCollection;
  shard.Put(collection);
  collection.version = 2;
  shard.Put(collection);
  EXPECT_EQ(RunIt(shard, R"("query": {"_id": 2}, "update": {"a": 1})"), "code 13388");
}

}  // namespace
}  // namespace evenkeel::shard
