// aggregate: targeting, merging, views, sources without a collection.
#include "base/check.h"
#include "query/exec/operator.h"
#include "query/stage/pipeline.h"

#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class AggregateTest : public RouterTest {
 protected:
  AggregateTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
  }
  void OnAll(std::string_view rows) {
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On("aggregate",
                  [text = std::string(rows)](bson::View) { return CursorReply(text); });
    }
  }
  static std::string Command(std::string_view collection, std::string_view pipeline) {
    return "{\"aggregate\": " + std::string(collection) +
           ", \"pipeline\": " + std::string(pipeline) + ", \"cursor\": {}}";
  }
};

TEST_F(AggregateTest, OneShardIsPassedThrough) {
  OnAll(R"([{"a": 1}])");
  const bson::Document reply =
      Run(Command("\"u\"", R"([{"$match": {"x": 1}}, {"$sort": {"a": 1}}])"));
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"a":1}],"id":0,"ns":"db.c"}})");
  const bson::Document asked = shard(1).RequestsOf("aggregate")[0];
  EXPECT_EQ(asked["pipeline"].AsDocument().CountFields(), 2u);
  EXPECT_FALSE(asked["$shard"].AsDocument().Contains("m"));
}

TEST_F(AggregateTest, ALeadingMatchOnTheKeyTargetsItsShard) {
  OnAll("[]");
  const std::string pipeline = "[{\"$match\": {\"k\": " + std::to_string(KeyOn(2)) + "}}]";
  EXPECT_EQ(CodeOfReply(Run(Command("\"s\"", pipeline))), 0);
  EXPECT_EQ(CountsOf("aggregate"), (std::vector<size_t>{0, 0, 1}));
}

TEST_F(AggregateTest, CountsOfAllShardsAreMerged) {
  // What the shards' half of $count sends is the query layer's business: the fakes run it over one
  // document each.
  for (uint32_t i = 0; i < 3; ++i) {
    shard(i).On("aggregate", [](bson::View request) {
      query::QueryContext context;
      context.internal = true;
      auto pipeline = query::Pipeline::Parse(request["pipeline"].AsDocument(), context);
      EVENKEEL_CHECK(pipeline.ok());
      auto input = std::make_unique<query::InputQueue>();
      input->Push(query::Row::Own(Json(R"({"x": 1})")));
      input->Finish();
      auto last = pipeline->Build(std::move(input), context);
      EVENKEEL_CHECK(last.ok());
      const auto rows = query::RunToEnd(**last);
      EVENKEEL_CHECK(rows.ok());
      std::string json = "[";
      for (const bson::Document& row : *rows) {
        if (json.size() > 1) json += ",";
        json += bson::ToCanonicalJson(row);
      }
      return CursorReply(json + "]");
    });
  }
  const bson::Document reply = Run(
      Command("\"s\"", R"([{"$match": {"x": 1}}, {"$group": {"_id": "$x", "n": {"$sum": 1}}}])"));
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"_id":1,"n":3}],"id":0,"ns":"db.s"}})");
  EXPECT_TRUE(shard(0).RequestsOf("aggregate")[0]["$shard"].AsDocument()["m"].AsBool());
}

TEST_F(AggregateTest, DocumentsNeedNoCollection) {
  const bson::Document reply =
      Run(Command("1", R"([{"$documents": [{"a": 1}, {"a": 2}]}, {"$match": {"a": 2}}])"));
  EXPECT_EQ(Fields(reply),
            R"({"cursor":{"firstBatch":[{"a":2}],"id":0,"ns":"db.$cmd.aggregate"}})");
}

TEST_F(AggregateTest, AnAbsentCollectionIsEmpty) {
  EXPECT_EQ(Fields(Run(Command("\"absent\"", R"([{"$match": {}}])"))),
            R"({"cursor":{"firstBatch":[],"id":0,"ns":"db.absent"}})");
  EXPECT_EQ(CodeOfReply(Run(Command("\"absent\"", R"([{"$noSuchStage": {}}])"))), 40324);
}

TEST_F(AggregateTest, AViewIsResolvedToItsSource) {
  AddView("db.v", "u", R"([{"$match": {"x": 1}}])");
  AddView("db.w", "v", R"([{"$skip": 1}])");
  OnAll(R"([{"a": 1}])");
  const bson::Document reply = Run(Command("\"w\"", R"([{"$limit": 2}])"));
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"a":1}],"id":0,"ns":"db.w"}})");
  const bson::Document asked = shard(1).RequestsOf("aggregate")[0];
  EXPECT_EQ(bson::ToJson(asked["pipeline"].AsDocument()),
            R"({"0":{"$match":{"x":1}},"1":{"$skip":1},"2":{"$limit":2}})");
}

TEST_F(AggregateTest, ViewsThatNameEachOtherEnd) {
  AddView("db.a", "b", "[]");
  AddView("db.b", "a", "[]");
  EXPECT_EQ(CodeOfReply(Run(Command("\"a\"", "[]"))), 165);
}

TEST_F(AggregateTest, StaleRoutesAreRepeated) {
  OnAll(R"([{"a": 1}])");
  shard(2).Next("aggregate", StaleReply());
  EXPECT_EQ(
      Run(Command("\"s\"", "[]"))["cursor"].AsDocument()["firstBatch"].AsDocument().CountFields(),
      3u);
}

}  // namespace
}  // namespace evenkeel::router
