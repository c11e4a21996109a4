// Tests of update and delete as commands: order of statements, errors, interruptions.
#include "shard/command/update.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"
#include "tests/unit/shard/command/write_cases.h"

namespace evenkeel::shard {
namespace {

using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;

TEST(Update, OneDocument) {
  RunCases(
      {
          // By document key, and by search.
          {kPlain,
           {R"({"_id": 1, "a": 1})"},
           R"([{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}])",
           "n 1 m 1",
           {R"({"_id":1,"a":2})"}},
          {kPlain,
           {R"({"_id": 1, "a": 1})"},
           R"([{"q": {"a": 1}, "u": {"$inc": {"a": 1}}}])",
           "n 1 m 1",
           {R"({"_id":1,"a":2})"}},
          {kPlain,
           {R"({"_id": 1, "a": 1})"},
           R"([{"q": {"_id": 1}, "u": {"$set": {"a": 1}}}])",
           "n 1 m 0",
           {R"({"_id":1,"a":1})"}},
          {kPlain,
           {R"({"_id": 1, "a": 1})"},
           R"([{"q": {"_id": 2}, "u": {"$set": {"a": 5}}}])",
           "n 0 m 0",
           {R"({"_id":1,"a":1})"}},
          {kPlain,
           {R"({"_id": 1, "a": 1})"},
           R"([{"q": {"_id": 1, "a": 2}, "u": {"b": 5}}])",
           "n 0 m 0",
           {R"({"_id":1,"a":1})"}},
          {kPlain,
           {R"({"_id": 1, "a": 1})"},
           R"([{"q": {"a": 1}, "u": {"b": 5}}])",
           "n 1 m 1",
           {R"({"_id":1,"b":5})"}},
          // The first in sort order.
          {kIndexed,
           {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 1})", R"({"_id": 3, "a": 1})"},
           R"([{"q": {"a": 1}, "sort": {"_id": -1}, "u": {"$set": {"x": 1}}}])",
           "n 1 m 1",
           {R"({"_id":1,"a":1})", R"({"_id":2,"a":1})", R"({"_id":3,"a":1,"x":1})"}},
          {kIndexed,
           {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 2})"},
           R"([{"q": {"a": {"$gt": 0}}, "u": {"$inc": {"a": 5}}}])",
           "n 1 m 1",
           {R"({"_id":1,"a":6})", R"({"_id":2,"a":2})"}},
          {kSharded,
           {R"({"_id": 1, "a": 1, "b": 1})"},
           R"([{"q": {"_id": 1}, "u": {"$set": {"b": 2}}}])",
           "n 1 m 1",
           {R"({"_id":1,"a":1,"b":2})"}},
          {kShardedById,
           {R"({"_id": 1, "b": 1})"},
           R"([{"q": {"_id": 1.0}, "u": {"$set": {"b": 2}}}])",
           "n 1 m 1",
           {R"({"_id":1,"b":2})"}},
          // Arrays under an index grow and shrink.
          {kIndexed,
           {R"({"_id": 1, "a": [1, 2, 3]})"},
           R"([{"q": {"a": 2}, "u": {"$set": {"a": [2, 3, 4, 4]}}}])",
           "n 1 m 1",
           {R"({"_id":1,"a":[2,3,4,4]})"}},
          {kIndexed,
           {R"({"_id": 1, "a": [1, 2, 3], "b": 1})"},
           R"([{"q": {"b": 1}, "u": {"$unset": {"a": 1, "b": 1}}}])",
           "n 1 m 1",
           {R"({"_id":1})"}},
      },
      true);
}

TEST(Update, AStatementSeesItsPredecessors) {
  RunCases(
      {
          {kPlain,
           {R"({"_id": 1, "a": 1})"},
           R"([{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}},
               {"q": {"_id": 1, "a": 2}, "u": {"$inc": {"a": 1}}},
               {"q": {"a": 3}, "u": {"$inc": {"a": 1}}},
               {"q": {"a": {"$gt": 3}}, "u": {"$inc": {"a": 1}}, "multi": true}])",
           "n 4 m 4",
           {R"({"_id":1,"a":5})"}},
          // What a reader saw before would have failed.
          {kPlain,
           {R"({"_id": 1, "a": "x"})"},
           R"([{"q": {"_id": 1}, "u": {"$set": {"a": 1}}},
               {"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}])",
           "n 2 m 2",
           {R"({"_id":1,"a":2})"}},
          {kPlain,
           {},
           R"([{"q": {"_id": 1}, "u": {"$set": {"a": 1}}, "upsert": true},
               {"q": {"_id": 1}, "u": {"$inc": {"a": 1}}, "upsert": true},
               {"q": {"a": 2}, "u": {"$inc": {"a": 1}}, "upsert": true},
               {"q": {"a": 9, "_id": 9}, "u": {"$inc": {"a": 1}}, "upsert": true}])",
           "n 4 m 2 u0:1 u3:9",
           {R"({"_id":1,"a":3})", R"({"_id":9,"a":10})"}},
      },
      true);
}

TEST(Update, ErrorsEndAnOrderedCommandOnly) {
  const std::string updates = R"([{"q": {"_id": 1}, "u": {"$set": {"a": 2}}},
      {"q": {"_id": 1}, "u": {"$set": {"_id": 5}}},
      {"q": {"_id": 2}, "u": {"$inc": {"a": 1}}},
      {"q": {"_id": 3}, "u": {"$set": {"b": 2}}}])";
  struct Ordered {
    std::string rest, expected;
    Rows after;
  };
  const Ordered cases[] = {
      {R"("ordered": true)",
       "n 1 m 1 w1:66",
       {R"({"_id":1,"a":2})", R"({"_id":2,"a":"x"})", R"({"_id":3})"}},
      {R"("ordered": false)",
       "n 2 m 2 w1:66 w2:14",
       {R"({"_id":1,"a":2})", R"({"_id":2,"a":"x"})", R"({"_id":3,"b":2})"}},
  };
  for (const Ordered& c : cases) {
    ShardFixture shard;
    shard.Put(kPlain);
    shard.Insert(kPlain, {R"({"_id": 1})", R"({"_id": 2, "a": "x"})", R"({"_id": 3})"});
    EXPECT_EQ(Update(shard, kPlain, updates, c.rest), c.expected);
    EXPECT_EQ(shard.Find(kPlain), c.after);
  }
}

TEST(Delete, OneAndMany) {
  const Rows three = {R"({"_id": 1, "a": 1, "b": 1})", R"({"_id": 2, "a": 1, "b": 2})",
                      R"({"_id": 3, "a": [1, 2]})"};
  const Rows shown = {R"({"_id":1,"a":1,"b":1})", R"({"_id":2,"a":1,"b":2})",
                      R"({"_id":3,"a":[1,2]})"};
  RunCases({{kIndexed, three, R"([{"q": {"_id": 2}, "limit": 1}])", "n 1", {shown[0], shown[2]}},
            {kIndexed, three, R"([{"q": {"a": 1}, "limit": 0}])", "n 3", {}},
            {kIndexed, three, R"([{"q": {"a": 2}, "limit": 1}])", "n 1", {shown[0], shown[1]}},
            {kIndexed, three, R"([{"q": {"b": {"$gt": 0}}, "limit": 0}])", "n 2", {shown[2]}},
            {kIndexed, three, R"([{"q": {"a": 9}, "limit": 0}, {"q": {"_id": 9}, "limit": 1}])",
             "n 0", shown},
            {kPlain, three, R"([{"q": {}, "limit": 0}])", "n 3", {}},
            {kPlain, three, R"([{"q": {"_id": {"$gte": 2}}, "limit": 0}])", "n 2", {shown[0]}},
            {kIndexed,
             three,
             R"([{"q": {"_id": 1}, "limit": 1}, {"q": {"_id": 1}, "limit": 1}])",
             "n 1",
             {shown[1], shown[2]}},
            {kShardedById,
             {R"({"_id": 1, "b": [1, 2]})", R"({"_id": 2, "b": 1})"},
             R"([{"q": {"b": 1}, "limit": 0}])",
             "n 2",
             {}}},
           false);
}

TEST(Delete, GoesOnAFullDisk) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, {R"({"_id": 1})", R"({"_id": 2})", R"({"_id": 3})"});
  shard.log.SetSpaceButForEssential(0);
  EXPECT_EQ(Update(shard, kPlain, R"([{"q": {"_id": 1}, "u": {"a": 1}}])"), "code 14031");
  EXPECT_EQ(Delete(shard, kPlain, R"([{"q": {"_id": 1}, "limit": 1}])"), "n 1");
  EXPECT_EQ(Delete(shard, kPlain, R"([{"q": {}, "limit": 0}])"), "n 2");
}

TEST(Update, AFailingExpressionIsAnError) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, {R"({"_id": 1, "a": 0})"});
  const std::string bad = R"({"$expr": {"$divide": [1, "$a"]}})";
  for (const std::string multi : {"false", "true"}) {
    const std::string outcome =
        Update(shard, kPlain,
               R"([{"q": )" + bad + R"(, "u": {"$set": {"b": 1}}, "multi": )" + multi + "}]");
    EXPECT_NE(outcome.find("w0:"), std::string::npos) << outcome;
  }
  EXPECT_EQ(shard.Find(kPlain), Rows{R"({"_id":1,"a":0})"});
}

TEST(Update, StaleVersionsAndInterruptions) {
  ShardFixture shard;
  TestCollection collection;
  shard.Put(collection);
  shard.Insert(collection, {R"({"_id": 1})"});
  const TestCollection old = collection;
  collection.version = 2;
  shard.Put(collection);
  EXPECT_EQ(Update(shard, old, R"([{"q": {"_id": 1}, "u": {"a": 1}}])"), "code 13388");
  EXPECT_EQ(Delete(shard, old, R"([{"q": {}, "limit": 0}])"), "code 13388");

  // In an unordered command all statements that were not carried out are told.
  base::CancellationSource cancelled;
  cancelled.Cancel();
  const bson::Document command = Json(collection.Command(
      "update", R"("ordered": false, "updates": [{"q": {"_id": 1}, "u": {"a": 1}},
                   {"q": {"_id": 1}, "u": {"a": 2}}, {"q": {"_id": 1}, "u": {"a": 3}}])"));
  EXPECT_EQ(OutcomeOf(shard.Start(command, cancelled.token()).get()), "code 11601");
  EXPECT_EQ(OutcomeOf(shard.Start(command, {}, shard.wall.Now() - absl::Seconds(1)).get()),
            "code 50");
  EXPECT_EQ(shard.Find(collection), Rows{R"({"_id":1})"});
}

// A DDL step comes between two statements: the code of the second reaches the router as it is.
TEST(Update, AStaleStatementBehindOthersIsToldByItsPosition) {
  ShardFixture shard;
  TestCollection collection;
  shard.Put(collection);
  shard.Insert(collection, {R"({"_id": 1})"});
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  // The first statement is executed; the second one searches, so it waits for durability first.
  auto running = shard.StartWrite(
      collection.Command("update", R"("updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}},
                               {"q": {"a": 1}, "u": {"$set": {"b": 1}}}])"));
  collection.version = 2;
  auto put = shard.StartWrite(R"({"_applyCatalog": 1, "job": "x", "put": [)" + collection.Entry() +
                              R"(], "drop": []})");
  shard.log.Hold(false);
  put.get();
  EXPECT_EQ(OutcomeOf(running.get()), "n 1 m 1 w1:13388");
}

}  // namespace
}  // namespace evenkeel::shard
