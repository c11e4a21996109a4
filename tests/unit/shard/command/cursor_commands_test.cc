// Tests of find, getMore and killCursors: batches, plans, cursors beside writes and drops.
#include "shard/command/cursor_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "shard/command/cursor_table.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;
using Rows = std::vector<std::string>;

const TestCollection kPlain{};
const TestCollection kIndexed{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})",
                                          R"({"key": {"b": -1, "a": 1}, "name": "b_-1_a_1"})"}};

Rows Numbered(int count, int first = 0) {
  Rows documents;
  for (int i = first; i < first + count; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i) + "}");
  }
  return documents;
}

// The `_id`s of rows.
std::vector<int> Ids(const Rows& rows) {
  std::vector<int> ids;
  for (const std::string& row : rows) ids.push_back(std::stoi(Field(Json(row), "_id")));
  return ids;
}

std::string GetMore(int64_t id, const std::string& rest = "") {
  return R"({"getMore": {"$numberLong": ")" + std::to_string(id) + R"("}, "collection": "c")" +
         (rest.empty() ? "" : ", " + rest) + "}";
}

int64_t CursorOf(bson::View reply) { return reply["cursor"].AsDocument()["id"].AsInt64(); }

size_t RowsOf(bson::View reply) {
  const bson::View cursor = reply["cursor"].AsDocument();
  return cursor[cursor.Contains("firstBatch") ? "firstBatch" : "nextBatch"]
      .AsDocument()
      .CountFields();
}

TEST(Find, BatchSizes) {
  struct Case {
    int documents;
    std::string find, more;
    std::vector<size_t> batches;
  };
  const Case cases[] = {
      {0, "", "", {0}},
      {3, "", "", {3}},
      {101, "", "", {101, 0}},
      {250, "", "", {101, 149}},
      {250, R"("batchSize": 0)", "", {0, 250}},
      {250, R"("batchSize": 100)", R"("batchSize": 100)", {100, 100, 50}},
      {10, R"("batchSize": 5)", R"("batchSize": 5)", {5, 5, 0}},
      {10, R"("batchSize": 3, "limit": {"$numberLong": "4"})", "", {3, 1}},
      {10, R"("batchSize": 4, "limit": {"$numberLong": "4"})", "", {4}},
      {10, R"("batchSize": 2, "singleBatch": true)", "", {2}},
      {10, R"("skip": {"$numberLong": "8"})", "", {2}},
      {3000, R"("batchSize": 2000)", "", {2000, 1000}},
      {300, R"("batchSize": 7, "sort": {"x": 1})", R"("batchSize": 200)", {7, 200, 93}},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    shard.Put(kPlain);
    if (c.documents > 0) shard.Insert(kPlain, Numbered(c.documents));
    std::vector<size_t> batches;
    bson::Document reply = shard.Run(kPlain.Command("find", c.find));
    while (true) {
      ASSERT_TRUE(reply["code"].missing()) << bson::ToJson(reply);
      batches.push_back(RowsOf(reply));
      if (CursorOf(reply) == 0) break;
      EXPECT_EQ(Field(reply, "cursor.ns"), "\"db.c\"");
      reply = shard.Run(GetMore(CursorOf(reply), c.more));
    }
    EXPECT_EQ(batches, c.batches) << c.documents << " " << c.find;
    EXPECT_EQ(shard.service().cursors().size(), 0u) << c.find;
  }
}

TEST(Find, PlansAndOrders) {
  struct Case {
    std::string rest;
    std::vector<int> ids;
  };
  // a: 0 … 9, b: _id % 3
  const Case cases[] = {
      {"", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
      {R"("filter": {"_id": 4})", {4}},
      {R"("filter": {"_id": 4.0})", {4}},
      {R"("filter": {"_id": {"$in": [7, 3, 3.0, 99]}})", {3, 7}},
      {R"("filter": {"_id": {"$in": [7, 3, 99]}}, "sort": {"_id": -1})", {7, 3}},
      {R"("filter": {"_id": {"$gt": 7}})", {8, 9}},
      {R"("filter": {"_id": {"$gte": 7}})", {7, 8, 9}},
      {R"("filter": {"_id": {"$lt": 2}})", {0, 1}},
      {R"("filter": {"_id": {"$gt": 2, "$lte": 4}})", {3, 4}},
      {R"("filter": {"_id": {"$gt": 2, "$lte": 4}}, "sort": {"_id": -1})", {4, 3}},
      {R"("filter": {"_id": {"$gt": "x"}})", {}},
      {R"("sort": {"_id": -1}, "limit": {"$numberLong": "3"})", {9, 8, 7}},
      {R"("filter": {"a": 5})", {5}},
      {R"("filter": {"a": {"$gt": 6}}, "sort": {"a": -1})", {9, 8, 7}},
      {R"("filter": {"a": {"$gt": 6}}, "sort": {"a": 1})", {7, 8, 9}},
      {R"("filter": {"b": 1}, "sort": {"a": 1})", {1, 4, 7}},
      {R"("filter": {"b": 1}, "sort": {"a": -1})", {7, 4, 1}},
      {R"("sort": {"b": -1, "a": 1})", {2, 5, 8, 1, 4, 7, 0, 3, 6, 9}},
      {R"("sort": {"b": 1, "a": -1})", {9, 6, 3, 0, 7, 4, 1, 8, 5, 2}},
      {R"("filter": {"b": {"$gte": 1}, "a": {"$lt": 5}}, "sort": {"_id": 1})", {1, 2, 4}},
      {R"("filter": {"b": {"$in": [0, 2]}, "a": {"$gt": 5}}, "sort": {"a": 1})", {6, 8, 9}},
      {R"("filter": {"$or": [{"a": 1}, {"_id": 8}]})", {1, 8}},
      {R"("hint": {"a": 1}, "filter": {"b": 0})", {0, 3, 6, 9}},
      {R"("hint": {"$natural": -1}, "limit": {"$numberLong": "2"})", {9, 8}},
      {R"("filter": {"a": {"$in": []}})", {}},
      {R"("filter": {"b": {"$ne": 0}}, "sort": {"_id": 1})", {1, 2, 4, 5, 7, 8}},
  };
  for (const bool sharded : {false, true}) {
    ShardFixture shard;
    TestCollection collection = kIndexed;
    if (sharded) collection.shard_key = R"({"_id": "hashed"})";
    shard.Put(collection);
    Rows documents;
    for (int i = 0; i < 10; ++i) {
      documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i) +
                          R"(, "b": )" + std::to_string(i % 3) + "}");
    }
    shard.Insert(collection, documents);
    for (const Case& c : cases) {
      std::vector<int> ids = Ids(shard.Find(collection, c.rest));
      std::vector<int> expected = c.ids;
      const bool ordered = c.rest.find("sort") != std::string::npos;
      // Where nothing was asked for, a collection sharded by _id has the order of hashes.
      if (sharded && c.rest.find("$natural") != std::string::npos) continue;
      if (sharded && !ordered) std::sort(ids.begin(), ids.end());
      EXPECT_EQ(ids, expected) << c.rest << " sharded " << sharded;
    }
  }
}

TEST(Find, ArraysAreShownOnce) {
  ShardFixture shard;
  shard.Put(kIndexed);
  shard.Insert(kIndexed,
               {R"({"_id": 1, "a": [1, 2, 3]})", R"({"_id": 2, "a": [2, 3, 30]})",
                R"({"_id": 3, "a": []})", R"({"_id": 4, "a": [[1, 2]]})", R"({"_id": 5, "a": 2})"});
  struct Case {
    std::string filter;
    std::vector<int> ids;
  };
  const Case cases[] = {
      {R"({"a": 2})", {1, 2, 5}},
      {R"({"a": {"$gt": 1}})", {1, 2, 5}},
      {R"({"a": {"$gt": 3, "$lt": 10}})", {2}},  // by different elements
      {R"({"a": {"$gt": 2, "$lt": 10}})", {1, 2}},
      {R"({"a": {"$gt": 10, "$lt": 3}})", {2}},
      {R"({"a": {"$in": [1, 2, 3]}})", {1, 2, 5}},
      {R"({"a": {"$elemMatch": {"$gt": 3, "$lt": 10}}})", {}},
      {R"({"a": []})", {3}},
      {R"({"a": [1, 2]})", {4}},
      {R"({"a": [1, 2, 3]})", {1}},
      {R"({"a": {"$ne": 2}})", {3, 4}},
      {R"({"a": null})", {}},
  };
  for (const Case& c : cases) {
    std::vector<int> ids = Ids(shard.Find(kIndexed, R"("filter": )" + c.filter));
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, c.ids) << c.filter;
    ids = Ids(shard.Find(kIndexed, R"("hint": {"$natural": 1}, "filter": )" + c.filter));
    EXPECT_EQ(ids, c.ids) << c.filter << " without an index";
    ids = Ids(shard.Find(kIndexed, R"("batchSize": 1, "sort": {"a": 1}, "filter": )" + c.filter));
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, c.ids) << c.filter << " sorted";
  }
}

TEST(Find, SixteenMegabytesPerBatch) {
  ShardFixture shard;
  shard.Put(kPlain);
  const std::string text(5'000'000, 'x');
  for (int i = 0; i < 7; ++i) {
    bson::Builder command;
    command.Append("insert", "c").OpenArray("documents").OpenDocument("0");
    command.Append("_id", i).Append("text", text).Close().Close();
    command.AppendFields(Json("{" + kPlain.Shard() + "}"));
    ASSERT_EQ(Field(shard.Run(command.Finish()), "n"), "1");
  }
  for (const std::string rest : {"", R"("sort": {"text": 1, "_id": 1})"}) {
    bson::Document reply = shard.Run(kPlain.Command("find", rest));
    size_t rows = RowsOf(reply);
    EXPECT_EQ(rows, 3u) << rest;
    while (CursorOf(reply) != 0) {
      EXPECT_LE(reply.SizeBytes(), limits::kReplyBatchBytesMax + 1000);
      reply = shard.Run(GetMore(CursorOf(reply)));
      EXPECT_GE(RowsOf(reply), 1u);
      rows += RowsOf(reply);
    }
    EXPECT_EQ(rows, 7u) << rest;
  }
}

// What was there all the time is shown once, whatever is written meanwhile.
TEST(GetMore, BesideWrites) {
  const std::string finds[] = {
      R"("batchSize": 10)",
      R"("batchSize": 10, "filter": {"a": {"$gte": 0}})",
      R"("batchSize": 10, "sort": {"a": -1})",
      R"("batchSize": 10, "sort": {"_id": -1})",
  };
  for (const std::string& find : finds) {
    ShardFixture shard;
    shard.Put(kIndexed);
    shard.Insert(kIndexed, Numbered(300));
    bson::Document reply = shard.Run(kIndexed.Command("find", find));
    std::multiset<int> seen;
    for (int round = 0;; ++round) {
      const bson::View cursor = reply["cursor"].AsDocument();
      const bson::View batch = cursor[round == 0 ? "firstBatch" : "nextBatch"].AsDocument();
      for (const auto& [key, row] : batch) seen.insert(row.AsDocument()["_id"].AsInt32());
      if (CursorOf(reply) == 0) break;
      // New documents in front and behind, old odd ones removed or changed where they lie.
      shard.Insert(kIndexed, Numbered(3, 1000 + round * 3));
      const std::string odd = std::to_string((round * 34 + 1) % 300 | 1);
      shard.Run(
          kIndexed.Command("delete", R"("deletes": [{"q": {"_id": )" + odd + R"(}, "limit": 1}])"));
      shard.Run(kIndexed.Command("update",
                                 R"("updates": [{"q": {"_id": {"$lt": 300}},
                                     "u": {"$inc": {"x": 1}}, "multi": true}])"));
      if (round % 7 == 3) {
        ASSERT_TRUE(shard.store().Checkpoint().ok());
      }
      reply = shard.Run(GetMore(CursorOf(reply), R"("batchSize": 10)"));
      ASSERT_TRUE(reply["code"].missing()) << bson::ToJson(reply);
    }
    for (int id = 0; id < 300; id += 2) EXPECT_EQ(seen.count(id), 1u) << find << " " << id;
    for (const int id : seen) EXPECT_EQ(seen.count(id), 1u) << find << " " << id;
  }
}

// The first array under an index comes while a cursor walks it.
TEST(GetMore, AnIndexThatBecomesMultikey) {
  ShardFixture shard;
  shard.Put(kIndexed);
  shard.Insert(kIndexed, Numbered(20));
  bson::Document reply =
      shard.Run(kIndexed.Command("find", R"("filter": {"a": {"$gte": 0}}, "batchSize": 5)"));
  shard.Insert(kIndexed, {R"({"_id": 100, "a": [7, 8, 9, 15]})"});
  std::multiset<std::string> seen;
  while (CursorOf(reply) != 0) {
    reply = shard.Run(GetMore(CursorOf(reply), R"("batchSize": 2)"));
    for (const auto& [key, row] : reply["cursor"].AsDocument()["nextBatch"].AsDocument()) {
      seen.insert(Field(row.AsDocument(), "_id"));
    }
  }
  EXPECT_EQ(seen.count("100"), 1u);
  EXPECT_EQ(seen.size(), 16u);
}

TEST(GetMore, DropsEndCursors) {
  struct Case {
    std::string find;
    bool drop_index;
    int code;
  };
  const Case cases[] = {{R"("batchSize": 1)", false, 175},
                        {R"("batchSize": 1, "filter": {"a": {"$gte": 0}})", false, 175},
                        {R"("batchSize": 1, "filter": {"a": {"$gte": 0}})", true, 175},
                        {R"("batchSize": 1)", true, 0}};
  for (const Case& c : cases) {
    ShardFixture shard;
    shard.Put(kIndexed);
    shard.Insert(kIndexed, Numbered(2000));
    const int64_t id = CursorOf(shard.Run(kIndexed.Command("find", c.find)));
    if (c.drop_index) {
      shard.Put(TestCollection{.version = 2});
    } else {
      shard.Drop(kIndexed);
    }
    EXPECT_EQ(shard.CodeOfRun(GetMore(id)), c.code) << c.find;
    if (c.code != 0) {
      EXPECT_EQ(shard.CodeOfRun(GetMore(id)), 43);
      EXPECT_EQ(shard.service().cursors().size(), 0u);
    }
  }
}

TEST(KillCursors, EndsCursorsAndKnowsTheOthers) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, Numbered(10));
  const int64_t id = CursorOf(shard.Run(kPlain.Command("find", R"("batchSize": 1)")));
  const std::string long_id = R"({"$numberLong": ")" + std::to_string(id) + R"("})";
  const std::string kill =
      R"({"killCursors": "c", "cursors": [)" + long_id + R"(, {"$numberLong": "5"}]})";
  EXPECT_EQ(shard.RunJson(kill), R"({"cursorsKilled":[)" + std::to_string(id) +
                                     R"(],"cursorsNotFound":[5],"cursorsAlive":[],)" +
                                     R"("cursorsUnknown":[]})");
  EXPECT_EQ(shard.CodeOfRun(GetMore(id)), 43);
  EXPECT_EQ(shard.CodeOfRun(GetMore(12345)), 43);
  EXPECT_EQ(Field(shard.Run(kill), "cursorsKilled"), "[]");
}

TEST(Find, ShardPartsCarryTheirSortKeys) {
  ShardFixture shard;
  shard.Put(kIndexed);
  shard.Insert(kIndexed, Numbered(3));
  EXPECT_EQ(shard.Find(kIndexed, R"("sort": {"a": -1}, )" + kIndexed.Shard(R"("m": true)")),
            (Rows{R"({"_id":2,"a":2,"$sortKey":[2]})", R"({"_id":1,"a":1,"$sortKey":[1]})",
                  R"({"_id":0,"a":0,"$sortKey":[0]})"}));
}

TEST(Find, AFailingExpressionIsAnError) {
  ShardFixture shard;
  shard.Put(kIndexed);
  shard.Insert(kIndexed, {R"({"_id": 1, "a": 0})"});
  const std::string bad = R"("filter": {"$expr": {"$divide": [1, "$a"]}})";
  EXPECT_NE(shard.CodeOfRun(kIndexed.Command("find", bad)), 0);
  EXPECT_NE(shard.CodeOfRun(kIndexed.Command("find", bad + R"(, "sort": {"x": 1})")), 0);
}

TEST(Find, OldVersionsAndMissingEnvelopes) {
  ShardFixture shard;
  TestCollection collection;
  shard.Put(collection);
  collection.version = 2;
  EXPECT_EQ(shard.CodeOfRun(collection.Command("find", "")), 13388);
  EXPECT_EQ(shard.CodeOfRun(collection.Command("aggregate", R"("pipeline": [], "cursor": {})")),
            13388);
  collection.id = 77;
  EXPECT_EQ(shard.CodeOfRun(collection.Command("find", "")), 13388);
  EXPECT_EQ(shard.CodeOfRun(R"({"find": "c"})"), 72);
  EXPECT_EQ(shard.CodeOfRun(R"({"unknownCommand": "c"})"), 59);
}

TEST(Find, Interruptions) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, Numbered(10));
  const bson::Document find = Json(kPlain.Command("find", ""));
  base::CancellationSource cancelled;
  cancelled.Cancel();
  EXPECT_EQ(Field(shard.Start(find, cancelled.token()).get(), "code"), "11601");
  EXPECT_EQ(Field(shard.Start(find, {}, shard.wall.Now() - absl::Seconds(1)).get(), "code"), "50");
}

TEST(Aggregate, StagesRunBehindThePlan) {
  ShardFixture shard;
  shard.Put(kIndexed);
  shard.Insert(kIndexed, Numbered(300));
  const auto aggregate = [&](const std::string& pipeline, const std::string& cursor) {
    return shard.Run(
        kIndexed.Command("aggregate", R"("pipeline": )" + pipeline + R"(, "cursor": )" + cursor));
  };
  bson::Document reply = aggregate(
      R"([{"$match": {"a": {"$gte": 298}}}, {"$project": {"_id": 0, "b": {"$add": ["$a", 1]}}}])",
      "{}");
  EXPECT_EQ(Field(reply, "cursor.firstBatch"), R"([{"b":299},{"b":300}])");
  // Far more rows than a batch takes, from few documents.
  reply = aggregate(R"([{"$match": {"a": {"$lt": 3}}},
                        {"$addFields": {"x": {"$range": [0, 500]}}}, {"$unwind": "$x"}])",
                    R"({"batchSize": 7})");
  size_t rows = RowsOf(reply);
  EXPECT_EQ(rows, 7u);
  while (CursorOf(reply) != 0) {
    reply = shard.Run(GetMore(CursorOf(reply), R"("batchSize": 100)"));
    EXPECT_LE(RowsOf(reply), 100u);
    rows += RowsOf(reply);
  }
  EXPECT_EQ(rows, 1500u);
  reply = aggregate(R"([{"$group": {"_id": null, "n": {"$sum": 1}}}])", "{}");
  EXPECT_EQ(Field(reply, "cursor.firstBatch.0.n"), "300");
}

// An aggregate over `own` that may read `other` by itself.
std::string Joining(const TestCollection& own, const TestCollection& other, uint64_t version,
                    const std::string& pipeline) {
  const std::string foreign = R"("f": [{"n": ")" + other.ns + R"(", "c": {"$numberLong": ")" +
                              std::to_string(other.id) + R"("}, "v": {"$numberLong": ")" +
                              std::to_string(version) + R"("}}])";
  return R"({"aggregate": ")" + std::string(own.name()) + R"(", "pipeline": )" + pipeline +
         R"(, "cursor": {}, )" + own.Shard(foreign) + "}";
}

TEST(Aggregate, ReadsOtherCollectionsByItself) {
  const TestCollection own{};
  const TestCollection other{.id = 2000, .ns = "db.d"};
  ShardFixture shard;
  shard.Put(own);
  shard.Put(other);
  shard.Insert(own, Numbered(300));
  Rows rows;
  for (int i = 0; i < 600; ++i) {
    rows.push_back(R"({"_id": )" + std::to_string(i) + R"(, "of": )" + std::to_string(i / 2) + "}");
  }
  shard.Insert(other, rows);
  const std::string lookup = R"({"$lookup": {"from": "d", "localField": "_id",
                                            "foreignField": "of", "as": "d"}})";
  const bson::Document counted =
      shard.Run(Joining(own, other, 1, "[" + lookup + R"(, {"$unwind": "$d"}, {"$count": "n"}])"));
  EXPECT_EQ(Field(counted, "cursor.firstBatch.0.n"), "600") << bson::ToJson(counted);
  const bson::Document first = shard.Run(Joining(own, other, 1, "[" + lookup + "]"));
  EXPECT_EQ(RowsOf(first), 101u);
  const bson::Document rest = shard.Run(GetMore(CursorOf(first)));
  EXPECT_EQ(RowsOf(rest), 199u);
  EXPECT_EQ(Field(rest, "cursor.nextBatch.0.d.1._id"), "203");
  // As one of two versions: not this one.
  EXPECT_EQ(shard.CodeOfRun(Joining(own, other, 2, "[" + lookup + "]")), 13388);
  // It was not told of any.
  EXPECT_EQ(
      shard.CodeOfRun(own.Command("aggregate", R"("cursor": {}, "pipeline": [)" + lookup + "]")),
      1);
}

TEST(Explain, StagesAndWhatTheySpilled) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, Numbered(50));
  const bson::Document reply = shard.Run(
      R"({"explain": {"aggregate": "c", "cursor": {}, "pipeline": [{"$match": {"a": {"$lt": 40}}},
           {"$sort": {"a": -1}}, {"$group": {"_id": {"$mod": ["$a", 3]}, "n": {"$sum": 1},
           "all": {"$push": "$a"}}}]}, "verbosity": "executionStats", )" +
      kPlain.Shard() + "}");
  const struct {
    std::string_view path, value;
  } cases[] = {
      {"stages.0.$cursor.executionStats.nReturned", "40"},
      {"stages.0.nReturned", "40"},
      {"stages.1.$project.a", "true"},  // rows are narrowed before they are sorted
      {"stages.1.nReturned", "40"},
      {"stages.2.$sort.a", "-1"},
      {"stages.2.nReturned", "40"},
      {"stages.2.usedDisk", "false"},
      {"stages.2.spills", "0"},
      {"stages.3.nReturned", "3"},
      {"stages.3.usedDisk", "false"},
      {"stages.3.spilledRecords", "0"},
  };
  for (const auto& [path, value] : cases) EXPECT_EQ(Field(reply, path), value) << path;
  EXPECT_NE(Field(reply, "stages.2.totalDataSizeSortedBytesEstimate"), "0");
  EXPECT_NE(Field(reply, "stages.3.maxAccumulatorMemoryUsageBytes.all"), "missing");
}

}  // namespace
}  // namespace evenkeel::shard
