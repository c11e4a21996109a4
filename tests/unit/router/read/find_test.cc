// find: passed through or merged, its cursors, stale routes.
#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class FindTest : public RouterTest {
 protected:
  FindTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
  }
  // Answers finds on the data of db.s; shard 0 answers catalog requests, too.
  void OnFind(uint32_t i, std::string rows, int64_t id = 0) {
    if (i != 0) {
      shard(i).On("find", [rows, id](bson::View) { return CursorReply(rows, id); });
      return;
    }
    shard(0).On("find", [this, rows, id](bson::View request) {
      if (request["$db"].AsString() == "db") return CursorReply(rows, id);
      return Catalog(request);
    });
  }
};

TEST_F(FindTest, AnUnshardedFindIsPassedThrough) {
  OnFind(1, R"([{"_id": 1, "x": 2}])");
  const bson::Document reply =
      Run(R"({"find": "u", "filter": {"x": 2}, "limit": 5, "projection": {"x": 1}})");
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"_id":1,"x":2}],"id":0,"ns":"db.c"}})");
  const bson::Document asked = shard(1).RequestsOf("find")[0];
  EXPECT_EQ(bson::ToJson(asked["filter"].AsDocument()), R"({"x":2})");
  EXPECT_EQ(asked["limit"].AsInt32(), 5);
  EXPECT_TRUE(asked["$shard"].Is(bson::Type::kObject));
}

TEST_F(FindTest, AKeyGoesToItsOwnerOnly) {
  const int32_t key = KeyOn(2);
  OnFind(2, "[]");
  EXPECT_EQ(CodeOfReply(Run("{\"find\": \"s\", \"filter\": {\"k\": " + std::to_string(key) + "}}")),
            0);
  EXPECT_EQ(shard(1).RequestsOf("find").size(), 0u);
  EXPECT_EQ(shard(2).RequestsOf("find").size(), 1u);
}

TEST_F(FindTest, CollectionsThatDoNotExistAreEmptyButQueriesAreChecked) {
  EXPECT_EQ(Fields(Run(R"({"find": "absent"})")),
            R"({"cursor":{"firstBatch":[],"id":0,"ns":"db.absent"}})");
  EXPECT_EQ(CodeOfReply(Run(R"({"find": "absent", "filter": {"a": {"$bad": 1}}})")), 2);
}

TEST_F(FindTest, SortedResultsOfAllShardsAreMergedWithSkipAndLimit) {
  OnFind(0, R"([{"a": 1, "$sortKey": [1]}, {"a": 4, "$sortKey": [4]}])");
  OnFind(1, R"([{"a": 2, "$sortKey": [2]}])");
  OnFind(2, R"([{"a": 3, "$sortKey": [3]}])");
  const bson::Document reply =
      Run(R"({"find": "s", "sort": {"a": 1}, "skip": 1, "limit": 2, "singleBatch": true})");
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"a":2},{"a":3}],"id":0,"ns":"db.s"}})");
  const bson::Document asked = shard(1).RequestsOf("find")[0];
  EXPECT_EQ(asked["limit"].AsInt64(), 3);
  EXPECT_FALSE(asked.view().Contains("skip"));
  EXPECT_FALSE(asked.view().Contains("singleBatch"));
  EXPECT_TRUE(asked["$shard"].AsDocument()["m"].AsBool());
}

TEST_F(FindTest, ACursorGoesOnUnderTheRoutersId) {
  OnFind(1, R"([{"_id": 1}])", 77);
  const bson::Document first = Run(R"({"find": "u", "batchSize": 1})");
  const int64_t id = first["cursor"].AsDocument()["id"].AsInt64();
  EXPECT_NE(id, 0);
  EXPECT_NE(id, 77);
  shard(1).Next("getMore", CursorReply(R"([{"_id": 2}])", 77, false));
  const std::string get_more = "{\"getMore\": {\"$numberLong\": \"" + std::to_string(id) +
                               "\"}, \"collection\": \"u\", \"batchSize\": 1}";
  const bson::Document second = Run(get_more);
  EXPECT_EQ(second["cursor"].AsDocument()["id"].AsInt64(), id);
  EXPECT_EQ(shard(1).RequestsOf("getMore")[0]["getMore"].AsInt64(), 77);
  shard(1).Next("getMore", CursorReply("[]", 0, false));
  EXPECT_EQ(Run(get_more)["cursor"].AsDocument()["id"].AsInt64(), 0);
  EXPECT_EQ(CodeOfReply(Run(get_more)), 43);
}

TEST_F(FindTest, AStaleRouteIsLookedUpAgain) {
  OnFind(2, R"([{"_id": 1}])");
  shard(1).Next("find", CursorReply("[]"));
  EXPECT_EQ(CodeOfReply(Run(R"({"find": "u"})")), 0);  // the route is known now
  AddUnsharded("db.u", ShardId{2});
  shard(1).Next("find", StaleReply());
  const bson::Document reply = Run(R"({"find": "u"})");
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"_id":1}],"id":0,"ns":"db.c"}})");
  EXPECT_EQ(shard(2).RequestsOf("find")[0]["$shard"].AsDocument()["v"].AsInt64(), 2);
}

TEST_F(FindTest, AStaleShardAmongSeveralEndsTheOthersCursorsAndAllIsRepeated) {
  OnFind(0, R"([{"a": 1}])");
  OnFind(1, R"([{"a": 2}])");
  OnFind(2, R"([{"a": 3}])");
  shard(1).Next("find", CursorReply(R"([{"a": 2}])", 9));
  shard(2).Next("find", StaleReply());
  shard(1).On("killCursors", "{}");
  const bson::Document reply = Run(R"({"find": "s"})");
  EXPECT_EQ(reply["cursor"].AsDocument()["firstBatch"].AsDocument().CountFields(), 3u);
  EXPECT_EQ(shard(1).RequestsOf("killCursors").size(), 1u);
}

TEST_F(FindTest, TheErrorOfAShardIsTheClients) {
  shard(1).On("find", [](bson::View) { return FailedReply(MakeError(ErrorCode::kBadValue, "x")); });
  const bson::Document reply = Run(R"({"find": "u"})");
  EXPECT_EQ(CodeOfReply(reply), 2);
  EXPECT_EQ(reply["errmsg"].AsString(), "x");
}

TEST_F(FindTest, KillCursorsEndsTheShardsCursor) {
  OnFind(1, R"([{"_id": 1}])", 77);
  shard(1).On("killCursors", "{}");
  const int64_t id = Run(R"({"find": "u"})")["cursor"].AsDocument()["id"].AsInt64();
  const bson::Document reply = Run("{\"killCursors\": \"u\", \"cursors\": [{\"$numberLong\": \"" +
                                   std::to_string(id) + "\"}, {\"$numberLong\": \"5\"}]}");
  EXPECT_EQ(Fields(reply),
            "{\"cursorsKilled\":[" + std::to_string(id) +
                "],\"cursorsNotFound\":[5],\"cursorsAlive\":[],\"cursorsUnknown\":[]}");
  EXPECT_EQ(shard(1).RequestsOf("killCursors")[0]["cursors"].AsDocument()["0"].AsInt64(), 77);
  EXPECT_EQ(OpenCursors(), 0u);
}

}  // namespace
}  // namespace evenkeel::router
