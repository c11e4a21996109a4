// Tests of count and distinct.
#include "shard/command/count.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kIndexed{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})",
                                          R"({"key": {"s": 1}, "name": "s_1", "sparse": true})"}};

std::string Count(ShardFixture& shard, const TestCollection& collection, const std::string& rest) {
  const bson::Document reply = shard.Run(collection.Command("count", rest));
  return reply["code"].missing() ? Field(reply, "n") : "code " + Field(reply, "code");
}

TEST(Count, ByCountersAndByScan) {
  ShardFixture shard;
  shard.Put(kIndexed);
  std::vector<std::string> documents;
  for (int i = 0; i < 700; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": [)" + std::to_string(i % 10) +
                        ", " + std::to_string(i % 7) + "]" + (i % 100 == 0 ? R"(, "s": 1)" : "") +
                        "}");
  }
  shard.Insert(kIndexed, documents);
  struct Case {
    std::string rest, expected;
  };
  const Case cases[] = {
      {"", "700"},
      {R"("query": {})", "700"},
      {R"("query": {}, "limit": 5)", "5"},
      {R"("query": {}, "skip": 695)", "5"},
      {R"("query": {}, "skip": 695, "limit": 2)", "2"},
      {R"("skip": 1000)", "0"},
      {R"("limit": -3)", "3"},
      {R"("query": {"_id": {"$lt": 30}})", "30"},
      {R"("query": {"_id": {"$lt": 30}}, "skip": 10, "limit": 100)", "20"},
      {R"("query": {"a": {"$in": [8, 9]}})", "140"},
      {R"("query": {"a": {"$gte": 0}})", "700"},
      {R"("query": {"a": 1000})", "0"},
      {R"("query": {"s": 1})", "7"},
      // A sparse index has what it has.
      {R"("query": {}, "hint": "s_1")", "7"},
      {R"("query": {}, "hint": "unknown")", "code 2"},
      {R"("query": {"a": {"$bad": 1}})", "code 2"},
  };
  for (const Case& c : cases) EXPECT_EQ(Count(shard, kIndexed, c.rest), c.expected) << c.rest;
  TestCollection other = kIndexed;
  other.version = 9;
  EXPECT_EQ(Count(shard, other, ""), "code 13388");
}

TEST(Count, IsExactThroughEveryKindOfWriteAndRestart) {
  for (const std::string key : {"", R"({"a": "hashed"})", R"({"_id": "hashed"})"}) {
    ShardFixture shard;
    const TestCollection collection{.shard_key = key};
    shard.Put(collection);
    const auto run = [&](const char* command, const std::string& rest) {
      EXPECT_EQ(shard.CodeOfRun(collection.Command(command, rest)), 0) << rest;
    };
    std::vector<std::string> documents;
    for (int i = 0; i < 30; ++i) {
      documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i) +
                          "}");
    }
    shard.Insert(collection, documents);
    run("insert", R"("documents": [{"_id": 3, "a": 3}], "ordered": false)");
    EXPECT_EQ(shard.Count(collection), 30) << key;
    run("delete", R"("deletes": [{"q": {"_id": {"$lt": 10}}, "limit": 0}])");
    EXPECT_EQ(shard.Count(collection), 20) << key;
    run("update", R"("updates": [{"q": {}, "u": {"$set": {"text": "longer"}}, "multi": true}])");
    run("update", R"("updates": [{"q": {"_id": 50, "a": 50}, "u": {"b": 1}, "upsert": true}])");
    run("findAndModify", R"("query": {"a": 20}, "remove": true)");
    run("findAndModify", R"("query": {"_id": 60, "a": 60}, "update": {"$set": {"b": 1}},
                            "upsert": true)");
    EXPECT_EQ(shard.Count(collection), 21) << key;
    EXPECT_EQ(shard.Validate(collection), "") << key;
    shard.Crash();
    EXPECT_EQ(shard.Count(collection), 21) << key;
    shard.Restart();
    EXPECT_EQ(shard.Count(collection), 21) << key;
    EXPECT_EQ(shard.Validate(collection), "") << key;
  }
}

TEST(Count, OnlyTheRangesOfThisShard) {
  ShardFixture shard({.shards = 3});
  const TestCollection collection{.shard_key = R"({"a": "hashed"})"};
  shard.Put(collection);
  // All of them are put, as a router never would: two thirds belong elsewhere.
  std::vector<std::string> documents;
  for (int i = 0; i < 300; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i) + "}");
  }
  shard.Insert(collection, documents);
  const int64_t counted = shard.Count(collection);
  EXPECT_GT(counted, 50);
  EXPECT_LT(counted, 150);
  EXPECT_EQ(std::to_string(counted), Count(shard, collection, R"("query": {"a": {"$gte": 0}})"));
}

TEST(Distinct, ValuesOfEveryShape) {
  ShardFixture shard;
  shard.Put(kIndexed);
  shard.Insert(kIndexed, {R"({"_id": 1, "a": 2, "b": {"c": 1}})",
                          R"({"_id": 2, "a": [1, 2.0, [5]], "b": [{"c": 1}, {"c": [2, 3]}]})",
                          R"({"_id": 3, "a": null, "b": [[{"c": 9}]]})", R"({"_id": 4, "b": 7})",
                          R"({"_id": 5, "a": "x", "b": [{"c": {"d": 1}}, 4]})"});
  struct Case {
    std::string rest, expected;
  };
  const Case cases[] = {
      {R"("key": "_id")", "[1,2,3,4,5]"},
      {R"("key": "a")", R"([null,1,2,"x",[5]])"},
      {R"("key": "b.c")", R"([1,2,3,{"d":1}])"},
      {R"("key": "b.c.d")", "[1]"},
      {R"("key": "b.0.c")", R"([1,9,{"d":1}])"},
      {R"("key": "a.1")", "[2.0]"},
      {R"("key": "missing")", "[]"},
      {R"("key": "a", "query": {"_id": {"$gt": 2}})", R"([null,"x"])"},
      {R"("key": "_id", "query": {"a": 2})", "[1,2]"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Field(shard.Run(kIndexed.Command("distinct", c.rest)), "values"), c.expected)
        << c.rest;
  }
  TestCollection other = kIndexed;
  other.version = 9;
  EXPECT_EQ(shard.CodeOfRun(other.Command("distinct", R"("key": "a")")), 13388);
}

TEST(Distinct, IsBoundedByTheSizeOfADocument) {
  ShardFixture shard;
  shard.Put(kIndexed);
  for (int i = 0; i < 5; ++i) {
    shard.Insert(kIndexed, {R"({"_id": )" + std::to_string(i) + R"(, "t": ")" +
                            std::string(4'000'000, static_cast<char>('a' + i)) + R"("})"});
  }
  EXPECT_EQ(shard.CodeOfRun(kIndexed.Command("distinct", R"("key": "t")")), 17217);
}

}  // namespace
}  // namespace evenkeel::shard
