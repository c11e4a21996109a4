// Tests of statements that write all documents that match, each once.
#include "shard/command/write_many.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"
#include "tests/unit/shard/command/write_cases.h"

namespace evenkeel::shard {
namespace {

using tests::ShardFixture;

TEST(WriteMany, ManyDocuments) {
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
TEST(WriteMany, ManyDocumentsThatMove) {
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

TEST(WriteMany, ManySlicesThroughAnIndex) {
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

}  // namespace
}  // namespace evenkeel::shard
