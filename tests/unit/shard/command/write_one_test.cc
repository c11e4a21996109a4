// Tests of statements that write one document: upserts, uniqueness, moved places, races.
#include "shard/command/write_one.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"
#include "tests/unit/shard/command/write_cases.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::List;
using tests::ShardFixture;

TEST(WriteOne, UniqueViolationsLeaveNothingBehind) {
  struct Violation {
    std::string update, expected;
  };
  const Violation cases[] = {
      {R"({"q": {"_id": 2}, "u": {"$set": {"b": 1, "a": 77}}})", "n 0 m 0 w0:11000"},
      {R"({"q": {"a": 2}, "u": {"$set": {"b": 1, "a": 77}}})", "n 0 m 0 w0:11000"},
      {R"({"q": {"_id": 2}, "u": {"$set": {"b": [5, 1], "a": 77}}})", "n 0 m 0 w0:11000"},
      {R"({"q": {"_id": 7}, "u": {"$set": {"b": 1, "a": 77}}, "upsert": true})",
       "n 0 m 0 w0:11000"},
      {R"({"q": {"a": 7}, "u": {"$set": {"b": 1}}, "upsert": true})", "n 0 m 0 w0:11000"},
      // The first changes, the second collides with it.
      {R"({"q": {}, "u": {"$set": {"b": 9}}, "multi": true})", "n 1 m 1 w0:11000"},
  };
  for (const Violation& c : cases) {
    ShardFixture shard;
    shard.Put(kIndexed);
    shard.Insert(kIndexed, {R"({"_id": 1, "a": 1, "b": 1})", R"({"_id": 2, "a": 2, "b": 2})"});
    EXPECT_EQ(Update(shard, kIndexed, List({c.update})), c.expected) << c.update;
    EXPECT_EQ(shard.Find(kIndexed, R"("filter": {"a": 77})"), Rows{}) << c.update;
    EXPECT_EQ(shard.Count(kIndexed), 2) << c.update;
    EXPECT_EQ(shard.Validate(kIndexed), "") << c.update;
  }
}

TEST(WriteOne, ADocumentMayKeepItsUniqueValue) {
  RunCases({{kIndexed,
             {R"({"_id": 1, "b": [1, 2]})", R"({"_id": 2, "b": 3})"},
             R"([{"q": {"_id": 1}, "u": {"$set": {"b": [2, 1, 4]}}}])",
             "n 1 m 1",
             {R"({"_id":1,"b":[2,1,4]})", R"({"_id":2,"b":3})"}}},
           true);
}

TEST(WriteOne, Upserts) {
  RunCases(
      {
          {kPlain,
           {},
           R"([{"q": {"_id": 1}, "u": {"$set": {"a": 1}}, "upsert": true}])",
           "n 1 m 0 u0:1",
           {R"({"_id":1,"a":1})"}},
          {kPlain,
           {R"({"_id": 1, "a": 0})"},
           R"([{"q": {"_id": 1}, "u": {"$set": {"a": 1}}, "upsert": true}])",
           "n 1 m 1",
           {R"({"_id":1,"a":1})"}},
          // The key is taken by a document that the filter does not match.
          {kPlain,
           {R"({"_id": 1, "a": 0})"},
           R"([{"q": {"_id": 1, "a": 5}, "u": {"$set": {"b": 1}}, "upsert": true}])",
           "n 0 m 0 w0:11000",
           {R"({"_id":1,"a":0})"}},
          {kPlain,
           {},
           R"([{"q": {"a": 5}, "u": {"_id": "x", "b": 2}, "upsert": true}])",
           "n 1 m 0 u0:\"x\"",
           {R"({"_id":"x","b":2})"}},
          {kPlain,
           {},
           R"([{"q": {"_id": 3, "a.b": 5}, "u": {"$setOnInsert": {"c": 1}}, "upsert": true}])",
           "n 1 m 0 u0:3",
           {R"({"_id":3,"a":{"b":5},"c":1})"}},
          {kSharded,
           {},
           R"([{"q": {"_id": 3, "a": 5}, "u": {"$set": {"b": 1}}, "upsert": true}])",
           "n 1 m 0 u0:3",
           {R"({"_id":3,"a":5,"b":1})"}},
      },
      true);
}

TEST(WriteOne, ManyUpsertsAtOnceInsertOne) {
  const std::string updates[] = {
      R"([{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}, "upsert": true}])",
      R"([{"q": {"x": 1}, "u": {"$inc": {"n": 1}}, "upsert": true}])",
      R"([{"q": {"x": 1}, "u": {"$inc": {"n": 1}}, "upsert": true, "multi": true}])",
  };
  for (const std::string& update : updates) {
    ShardFixture shard;
    shard.Put(kPlain);
    const std::string command = kPlain.Command("update", R"("updates": )" + update);
    std::vector<std::future<bson::Document>> running;
    for (int i = 0; i < 30; ++i) running.push_back(shard.Start(command));
    int inserted = 0;
    for (auto& one : running) {
      const bson::Document reply = one.get();
      EXPECT_EQ(Field(reply, "n"), "1") << update;
      inserted += reply["upserted"].missing() ? 0 : 1;
    }
    EXPECT_EQ(inserted, 1) << update;
    const Rows rows = shard.Find(kPlain, R"("projection": {"n": 1, "_id": 0})");
    EXPECT_EQ(rows, Rows{R"({"n":30})"}) << update;
    EXPECT_EQ(shard.Validate(kPlain), "");
  }
}

// What a reader has computed ahead is out of date when it gets to the writer.
TEST(WriteOne, ManyAtOnceLoseNothing) {
  const std::string filters[] = {R"({"_id": 1})", R"({"x": 1})", R"({"x": 1, "n": {"$gte": 0}})"};
  for (const std::string& filter : filters) {
    ShardFixture shard;
    shard.Put(kIndexed);
    shard.Insert(kIndexed, {R"({"_id": 1, "x": 1, "n": 0, "a": 0})", R"({"_id": 2, "x": 2})"});
    std::vector<std::future<bson::Document>> running;
    for (int i = 0; i < 50; ++i) {
      running.push_back(shard.Start(kIndexed.Command(
          "update", R"("updates": [{"q": )" + filter +
                        R"(, "u": {"$inc": {"n": 1}, "$push": {"a2": )" + std::to_string(i) +
                        R"(}, "$set": {"a": )" + std::to_string(i) + "}}}]")));
    }
    for (auto& one : running) EXPECT_EQ(OutcomeOf(one.get()), "n 1 m 1") << filter;
    EXPECT_EQ(shard.Find(kIndexed, R"("filter": {"n": 50}, "projection": {"_id": 1})"),
              Rows{R"({"_id":1})"})
        << filter;
    EXPECT_EQ(shard.Validate(kIndexed), "") << filter;
  }
}

TEST(WriteOne, AMovedPlacementKey) {
  ShardFixture shard;
  shard.Put(kSharded);
  shard.Insert(kSharded, {R"({"_id": 1, "a": 1, "b": 1})", R"({"_id": 2, "a": 2, "b": 1})"});
  EXPECT_EQ(Update(shard, kSharded, R"([{"q": {"_id": 1, "a": 1}, "u": {"$set": {"a": 3}}}])"),
            "n 1 m 1");
  EXPECT_EQ(shard.Find(kSharded, R"("filter": {"a": 3})"), Rows{R"({"_id":1,"a":3,"b":1})"});
  // Two documents may share a place.
  EXPECT_EQ(Update(shard, kSharded, R"([{"q": {"_id": 1, "a": 3}, "u": {"$set": {"a": 2}}}])"),
            "n 1 m 1");
  EXPECT_EQ(shard.Find(kSharded, R"("filter": {"a": 2})").size(), 2u);
  // An array cannot be placed.
  EXPECT_EQ(Update(shard, kSharded, R"([{"q": {"_id": 1, "a": 2}, "u": {"$set": {"a": [3]}}}])"),
            "n 0 m 0 w0:61");
  EXPECT_EQ(shard.Count(kSharded), 2);
  EXPECT_EQ(shard.Validate(kSharded), "");
}

TEST(WriteOne, AHashOfAnotherShardIsRefused) {
  ShardFixture shard({.shards = 2});
  shard.Put(kSharded);
  const auto owner = [](int value) {
    return bson::HashValue(Json(R"({"a": )" + std::to_string(value) + "}")["a"]) < 0 ? 0 : 1;
  };
  int ours = 0, theirs = 0, ours_too = 0;
  while (owner(ours) != 0) ++ours;
  while (owner(theirs) != 1) ++theirs;
  for (ours_too = ours + 1; owner(ours_too) != 0;) ++ours_too;
  shard.Insert(kSharded, {R"({"_id": 1, "a": )" + std::to_string(ours) + "}"});
  const auto set_a = [&](int value, const std::string& more) {
    return R"([{"q": {"_id": 1}, "u": {"$set": {"a": )" + std::to_string(value) + "}}" + more +
           "}]";
  };
  for (const std::string more : {"", R"(, "multi": true)"}) {
    EXPECT_EQ(Update(shard, kSharded, set_a(theirs, more)),
              more.empty() ? "n 0 m 0 w0:283" : "n 0 m 0 w0:72");
  }
  EXPECT_EQ(Update(shard, kSharded,
                   R"([{"q": {"_id": 9, "a": )" + std::to_string(theirs) +
                       R"(}, "u": {"$set": {"b": 1}}, "upsert": true}])"),
            "n 0 m 0 w0:283");
  EXPECT_EQ(Update(shard, kSharded, set_a(ours_too, "")), "n 1 m 1");
  EXPECT_EQ(shard.Count(kSharded), 1);
  EXPECT_EQ(shard.Validate(kSharded), "");
}

TEST(WriteOne, ManyAtOnceRemoveEachOnce) {
  ShardFixture shard;
  shard.Put(kIndexed);
  Rows documents;
  for (int i = 0; i < 40; ++i)
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": 1})");
  shard.Insert(kIndexed, documents);
  std::vector<std::future<bson::Document>> running;
  for (int i = 0; i < 60; ++i) {
    running.push_back(
        shard.Start(kIndexed.Command("delete", R"("deletes": [{"q": {"a": 1}, "limit": 1}])")));
  }
  int removed = 0;
  for (auto& one : running) removed += Field(one.get(), "n") == "1" ? 1 : 0;
  EXPECT_EQ(removed, 40);
  EXPECT_EQ(shard.Count(kIndexed), 0);
  EXPECT_EQ(shard.Validate(kIndexed), "");
}

}  // namespace
}  // namespace evenkeel::shard
