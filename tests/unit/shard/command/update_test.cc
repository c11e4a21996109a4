// Tests of update and delete: one document and many, upserts, unique violations, places that move.
#include "shard/command/update.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::List;
using tests::ShardFixture;
using tests::TestCollection;

using Rows = std::vector<std::string>;

const std::string kTxn =
    R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}},
       "txnNumber": {"$numberLong": "1"})";

// {n, m: nModified, u: upserted [index:_id], e: errors [index:code]}, what is zero left out.
std::string OutcomeOf(bson::View reply) {
  if (!reply["code"].missing()) return "code " + Field(reply, "code");
  std::string out = "n " + Field(reply, "n");
  if (!reply["nModified"].missing()) out += " m " + Field(reply, "nModified");
  for (const char* list : {"upserted", "writeErrors"}) {
    if (!reply[list].Is(bson::Type::kArray)) continue;
    for (const auto& [key, value] : reply[list].AsDocument()) {
      const bson::View row = value.AsDocument();
      out += std::string(" ") + list[0] + Field(row, "index") + ":" +
             Field(row, list[0] == 'u' ? "_id" : "code");
    }
  }
  if (!reply["missed"].missing()) out += " missed";
  return out;
}

std::string Update(ShardFixture& shard, const TestCollection& collection,
                   const std::string& updates, const std::string& rest = R"("ordered": true)") {
  return OutcomeOf(
      shard.Run(collection.Command("update", R"("updates": )" + updates + ", " + rest)));
}

std::string Delete(ShardFixture& shard, const TestCollection& collection,
                   const std::string& deletes, const std::string& rest = R"("ordered": true)") {
  return OutcomeOf(
      shard.Run(collection.Command("delete", R"("deletes": )" + deletes + ", " + rest)));
}

const TestCollection kPlain{};
const TestCollection kIndexed{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})",
                                          R"({"key": {"b": -1}, "name": "b_-1", "unique": true,
                                              "sparse": true})"}};
// One range per shard, so that this one, shard 0, owns everything.
const TestCollection kSharded{.shard_key = R"({"a": "hashed"})",
                              .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};
const TestCollection kShardedById{.shard_key = R"({"_id": "hashed"})",
                                  .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};

struct Case {
  TestCollection collection;
  Rows before;
  std::string statements;
  std::string expected;
  Rows after;
};

void RunCases(const std::vector<Case>& cases, bool is_update) {
  for (const Case& c : cases) {
    ShardFixture shard;
    shard.Put(c.collection);
    if (!c.before.empty()) shard.Insert(c.collection, c.before);
    const std::string outcome = is_update ? Update(shard, c.collection, c.statements)
                                          : Delete(shard, c.collection, c.statements);
    EXPECT_EQ(outcome, c.expected) << c.statements;
    Rows after = shard.Find(c.collection);
    std::sort(after.begin(), after.end());
    EXPECT_EQ(after, c.after) << c.statements;
    EXPECT_EQ(shard.Count(c.collection), static_cast<int64_t>(c.after.size())) << c.statements;
    EXPECT_EQ(shard.Validate(c.collection), "") << c.statements;
  }
}

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

TEST(Update, ManyDocuments) {
  RunCases(
      {
          {kPlain,
           {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 2})", R"({"_id": 3, "a": 3})"},
           R"([{"q": {"a": {"$lt": 3}}, "u": {"$inc": {"a": 10}}, "multi": true}])",
           "n 2 m 2",
           {R"({"_id":1,"a":11})", R"({"_id":2,"a":12})", R"({"_id":3,"a":3})"}},
          // Through the index on the field that it changes: each document once.
          {kIndexed,
           {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 2})", R"({"_id": 3, "a": 3})"},
           R"([{"q": {"a": {"$gt": 0}}, "u": {"$inc": {"a": 1}}, "multi": true}])",
           "n 3 m 3",
           {R"({"_id":1,"a":2})", R"({"_id":2,"a":3})", R"({"_id":3,"a":4})"}},
          {kPlain,
           {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 2})"},
           R"([{"q": {}, "u": {"$set": {"a": 1}}, "multi": true}])",
           "n 2 m 1",
           {R"({"_id":1,"a":1})", R"({"_id":2,"a":1})"}},
          {kShardedById,
           {R"({"_id": 1, "b": 1})", R"({"_id": 2, "b": 1})"},
           R"([{"q": {"_id": {"$in": [1, 2, 1.0, 5]}}, "u": {"$inc": {"b": 1}}, "multi": true}])",
           "n 2 m 2",
           {R"({"_id":1,"b":2})", R"({"_id":2,"b":2})"}},
          {kPlain,
           {R"({"_id": 1})", R"({"_id": 2})", R"({"_id": 3})"},
           R"([{"q": {"_id": {"$gt": 1}}, "u": {"$set": {"a": 1}}, "multi": true}])",
           "n 2 m 2",
           {R"({"_id":1})", R"({"_id":2,"a":1})", R"({"_id":3,"a":1})"}},
          // One fails: those before it stand, and are told.
          {kPlain,
           {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": "x"})", R"({"_id": 3, "a": 1})"},
           R"([{"q": {}, "u": {"$inc": {"a": 1}}, "multi": true}])",
           "n 1 m 1 w0:14",
           {R"({"_id":1,"a":2})", R"({"_id":2,"a":"x"})", R"({"_id":3,"a":1})"}},
          // None matches: one is inserted.
          {kPlain,
           {R"({"_id": 1})"},
           R"([{"q": {"_id": 7}, "u": {"$set": {"a": 1}}, "multi": true, "upsert": true}])",
           "n 1 m 0 u0:7",
           {R"({"_id":1})", R"({"_id":7,"a":1})"}},
      },
      true);
}

// A document that the statement moves ahead of its scan is not met again.
TEST(Update, ManyDocumentsThatMove) {
  ShardFixture shard;
  shard.Put(kSharded);
  Rows documents;
  for (int i = 0; i < 400; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i) +
                        R"(, "b": 0})");
  }
  shard.Insert(kSharded, documents);
  EXPECT_EQ(
      Update(shard, kSharded, R"([{"q": {}, "u": {"$inc": {"a": 1000, "b": 1}}, "multi": true}])"),
      "n 400 m 400");
  EXPECT_EQ(shard.Find(kSharded, R"("filter": {"b": {"$ne": 1}})"), Rows{});
  EXPECT_EQ(shard.Count(kSharded), 400);
  EXPECT_EQ(shard.Validate(kSharded), "");
}

TEST(Update, ManySlicesThroughAnIndex) {
  ShardFixture shard;
  shard.Put(kIndexed);
  Rows documents;
  for (int i = 0; i < 700; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i % 7) +
                        "}");
  }
  shard.Insert(kIndexed, documents);
  EXPECT_EQ(Update(shard, kIndexed,
                   R"([{"q": {"a": {"$lt": 3}}, "u": {"$inc": {"a": 2}}, "multi": true}])"),
            "n 300 m 300");
  EXPECT_EQ(shard.Find(kIndexed, R"("filter": {"a": {"$gt": 4}})").size(), 200u);
  EXPECT_EQ(shard.Find(kIndexed, R"("filter": {"a": {"$lt": 2}})").size(), 0u);
  EXPECT_EQ(shard.Validate(kIndexed), "");
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

TEST(Update, UniqueViolationsLeaveNothingBehind) {
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

TEST(Update, ADocumentMayKeepItsUniqueValue) {
  RunCases({{kIndexed,
             {R"({"_id": 1, "b": [1, 2]})", R"({"_id": 2, "b": 3})"},
             R"([{"q": {"_id": 1}, "u": {"$set": {"b": [2, 1, 4]}}}])",
             "n 1 m 1",
             {R"({"_id":1,"b":[2,1,4]})", R"({"_id":2,"b":3})"}}},
           true);
}

TEST(Update, Upserts) {
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

TEST(Update, ManyUpsertsAtOnceInsertOne) {
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
TEST(Update, ManyAtOnceLoseNothing) {
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

TEST(Update, AMovedPlacementKey) {
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

TEST(Update, AHashOfAnotherShardIsRefused) {
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
              more.empty() ? "n 0 m 0 w0:20" : "n 0 m 0 w0:20");
  }
  EXPECT_EQ(Update(shard, kSharded,
                   R"([{"q": {"_id": 9, "a": )" + std::to_string(theirs) +
                       R"(}, "u": {"$set": {"b": 1}}, "upsert": true}])"),
            "n 0 m 0 w0:20");
  EXPECT_EQ(Update(shard, kSharded, set_a(ours_too, "")), "n 1 m 1");
  EXPECT_EQ(shard.Count(kSharded), 1);
  EXPECT_EQ(shard.Validate(kSharded), "");
}

TEST(Update, ARepeatedStatementIsAppliedOnce) {
  struct Repeat {
    std::string update, expected;
    Rows after;
  };
  const Repeat cases[] = {
      {R"({"q": {"_id": 1}, "u": {"$inc": {"n": 1}}})", "n 1 m 1", {R"({"_id":1,"n":1})"}},
      {R"({"q": {"n": 0}, "u": {"$inc": {"n": 1}}})", "n 1 m 1", {R"({"_id":1,"n":1})"}},
      {R"({"q": {"_id": 1}, "u": {"$set": {"n": 0}}})", "n 1 m 0", {R"({"_id":1,"n":0})"}},
      {R"({"q": {"_id": 2}, "u": {"$inc": {"n": 1}}, "upsert": true})",
       "n 1 m 0 u0:2",
       {R"({"_id":1,"n":0})", R"({"_id":2,"n":1})"}},
      {R"({"q": {"_id": 5}, "u": {"$inc": {"n": 1}}})", "n 0 m 0", {R"({"_id":1,"n":0})"}},
  };
  for (const Repeat& c : cases) {
    ShardFixture shard;
    shard.Put(kPlain);
    shard.Insert(kPlain, {R"({"_id": 1, "n": 0})"});
    EXPECT_EQ(Update(shard, kPlain, List({c.update}), kTxn), c.expected) << c.update;
    EXPECT_EQ(Update(shard, kPlain, List({c.update}), kTxn), c.expected) << c.update;
    shard.Restart();
    EXPECT_EQ(Update(shard, kPlain, List({c.update}), kTxn), c.expected) << c.update;
    EXPECT_EQ(shard.Find(kPlain), c.after) << c.update;
  }
}

TEST(Update, AHalfDoneBulkGoesOn) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, {R"({"_id": 1, "n": 0})", R"({"_id": 2, "n": 0})"});
  const std::string one = R"({"q": {"_id": 1}, "u": {"$inc": {"n": 1}}})";
  const std::string two = R"({"q": {"_id": 2}, "u": {"$inc": {"n": 1}}})";
  EXPECT_EQ(Update(shard, kPlain, List({one, two}), kTxn), "n 2 m 2");
  EXPECT_EQ(Update(shard, kPlain, List({one, two, one}), kTxn), "n 3 m 3");
  EXPECT_EQ(Update(shard, kPlain, List({two, one}), kTxn + ", " + kPlain.Shard(R"("s": [7, 2])")),
            "n 2 m 2");
  EXPECT_EQ(shard.Find(kPlain), (Rows{R"({"_id":1,"n":2})", R"({"_id":2,"n":2})"}));
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

TEST(Delete, ManyAtOnceRemoveEachOnce) {
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

TEST(Delete, ARepeatedStatementIsAppliedOnce) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 1})"});
  const std::string deletes = R"([{"q": {"a": 1}, "limit": 1}])";
  EXPECT_EQ(Delete(shard, kPlain, deletes, kTxn), "n 1");
  EXPECT_EQ(Delete(shard, kPlain, deletes, kTxn), "n 1");
  EXPECT_EQ(shard.Count(kPlain), 1);
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
  EXPECT_EQ(OutcomeOf(shard.Start(command, cancelled.token()).get()),
            "n 0 m 0 w0:11601 w1:11601 w2:11601");
  EXPECT_EQ(OutcomeOf(shard.Start(command, {}, shard.wall.Now() - absl::Seconds(1)).get()),
            "n 0 m 0 w0:50 w1:50 w2:50");
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
  auto running = shard.Start(
      collection.Command("update", R"("updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}},
                               {"q": {"a": 1}, "u": {"$set": {"b": 1}}}])"));
  shard.Write([](storage::WriteContext&) {}, false);
  collection.version = 2;
  auto put = shard.Start(R"({"_applyCatalog": 1, "job": "x", "put": [)" + collection.Entry() +
                         R"(], "drop": []})");
  shard.Write([](storage::WriteContext&) {}, false);
  shard.log.Hold(false);
  put.get();
  EXPECT_EQ(OutcomeOf(running.get()), "n 1 m 1 w1:13388");
}

}  // namespace
}  // namespace evenkeel::shard
