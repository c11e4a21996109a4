// explain in the shape of a mongos.
#include <gmock/gmock.h>

#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class ExplainTest : public RouterTest {
 protected:
  ExplainTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On("explain",
                  R"({"queryPlanner": {"namespace": "db.c", "winningPlan": {"stage": "COLLSCAN"}},
          "executionStats": {"executionSuccess": true, "nReturned": 2, "executionTimeMillis": 1,
                             "totalKeysExamined": 3, "totalDocsExamined": 4}})");
    }
  }
  static std::string_view StageOf(const bson::Document& reply) {
    return reply["queryPlanner"].AsDocument()["winningPlan"].AsDocument()["stage"].AsString();
  }
  static std::vector<std::string> ShardsOf(const bson::Document& reply) {
    std::vector<std::string> names;
    const bson::View plan = reply["queryPlanner"].AsDocument()["winningPlan"].AsDocument();
    for (const auto& [key, shard] : plan["shards"].AsDocument()) {
      names.emplace_back(shard.AsDocument()["shardName"].AsString());
    }
    return names;
  }
};

TEST_F(ExplainTest, OneShardIsNamed) {
  const bson::Document reply = Run(
      "{\"explain\": {\"find\": \"s\", \"filter\": {\"k\": " + std::to_string(KeyOn(2)) + "}}}");
  EXPECT_EQ(StageOf(reply), "SINGLE_SHARD");
  EXPECT_THAT(ShardsOf(reply), testing::ElementsAre("shard2"));
}

TEST_F(ExplainTest, AllShardsAreNamedAndTheirFiguresSummed) {
  const bson::Document reply = Run(R"({"explain": {"find": "s"}, "verbosity": "executionStats"})");
  EXPECT_EQ(StageOf(reply), "SHARD_MERGE");
  EXPECT_THAT(ShardsOf(reply), testing::ElementsAre("shard0", "shard1", "shard2"));
  const bson::View stats = reply["executionStats"].AsDocument();
  EXPECT_EQ(stats["nReturned"].AsInt32(), 6);
  EXPECT_EQ(stats["totalDocsExamined"].AsInt32(), 12);
  EXPECT_EQ(stats["executionStages"].AsDocument()["shards"].AsDocument().CountFields(), 3u);
  EXPECT_EQ(shard(0).RequestsOf("explain")[0]["verbosity"].AsString(), "executionStats");
}

TEST_F(ExplainTest, WritesAndPipelinesToo) {
  EXPECT_EQ(
      StageOf(Run(R"({"explain": {"delete": "s", "deletes": [{"q": {"x": 1}, "limit": 0}]}})")),
      "SHARD_MERGE");
  EXPECT_EQ(StageOf(Run(R"({"explain": {"count": "u", "query": {"x": 1}}})")), "SINGLE_SHARD");
  const bson::Document reply =
      Run(R"({"aggregate": "s", "pipeline": [{"$match": {"x": 1}}, {"$sort": {"x": 1}}],)"
          R"( "explain": true})");
  EXPECT_EQ(StageOf(reply), "SHARD_MERGE");
  EXPECT_TRUE(reply["splitPipeline"].AsDocument()["shardsPart"].Is(bson::Type::kArray));
}

TEST_F(ExplainTest, BadRequests) {
  EXPECT_EQ(CodeOfReply(Run(R"({"explain": 1})")), 14);
  EXPECT_EQ(CodeOfReply(Run(R"({"explain": null})")), 40414);
  EXPECT_EQ(CodeOfReply(Run(R"({"explain": {"find": "u"}, "verbosity": 3})")), 14);
  EXPECT_EQ(CodeOfReply(Run(R"({"explain": {"find": "u"}, "verbosity": "loud"})")), 9);
  EXPECT_EQ(CodeOfReply(Run(R"({"explain": {"ping": 1}})")), 59);
}

TEST_F(ExplainTest, StaleRoutesAreRepeated) {
  shard(1).Next("explain", StaleReply());
  EXPECT_EQ(StageOf(Run(R"({"explain": {"find": "u"}})")), "SINGLE_SHARD");
}

}  // namespace
}  // namespace evenkeel::router
