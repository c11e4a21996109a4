// Which stages stay on the shards that would need the router otherwise.
#include "query/stage/colocation.h"

#include "base/bson/json.h"
#include "tests/unit/query/stage/run.h"

namespace evenkeel::query {
namespace {

// The shards' part of a pipeline over db.own.
std::string ShardPart(std::string_view json, const Colocation& colocation) {
  QueryContext context;
  context.ns = "db.own";
  auto pipeline = Pipeline::Parse(Stages(json), context);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  (void)pipeline->JoinOnShards(colocation);
  std::string names;
  const SplitPipeline split = pipeline->Split();
  for (const bson::Element& stage : split.shard_part.view()) {
    names.append(names.empty() ? "" : " ").append(stage.value.AsDocument().Front().key);
  }
  return names;
}

TEST(Colocation, ShardedByTheJoinedFields) {
  Colocation colocation;
  colocation.key = "k.l";
  colocation.others = {{"db.c", "f"}};
  const struct {
    std::string_view pipeline, shards;
  } cases[] = {
      {R"([{"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x"}}])",
       "$lookup"},
      {R"([{"$match": {"a": 1}}, {"$set": {"b": 1}}, {"$unwind": "$a"},
           {"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x",
                        "let": {"y": "$y"}, "pipeline": [{"$group": {"_id": "$$y"}}]}},
           {"$match": {"x": 1}}, {"$group": {"_id": "$a"}}])",
       "$match $set $unwind $lookup $match $_partialGroup"},
      {R"([{"$lookup": {"from": "other", "localField": "k.l", "foreignField": "f", "as": "x"}}])",
       ""},
      {R"([{"$lookup": {"from": "c", "localField": "k", "foreignField": "f", "as": "x"}}])", ""},
      {R"([{"$lookup": {"from": "c", "localField": "k.l", "foreignField": "g", "as": "x"}}])", ""},
      {R"([{"$lookup": {"from": "c", "pipeline": [], "as": "x"}}])", ""},
      {R"([{"$project": {"k": 1}},
           {"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x"}}])",
       "$project $lookup"},
      // The key is another one behind these.
      {R"([{"$project": {"a": 1}},
           {"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x"}}])",
       "$project"},
      {R"([{"$set": {"k.l": 1}},
           {"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x"}}])",
       "$set"},
      {R"([{"$replaceRoot": {"newRoot": "$a"}},
           {"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x"}}])",
       "$replaceRoot"},
      {R"([{"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "k"}},
           {"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x"}}])",
       "$lookup"},
      {R"([{"$group": {"_id": "$k"}},
           {"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x"}}])",
       "$_partialGroup"},
      // Pipelines within that read elsewhere.
      {R"([{"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x",
                        "pipeline": [{"$unionWith": "c"}]}}])",
       ""},
      {R"([{"$lookup": {"from": "c", "localField": "k.l", "foreignField": "f", "as": "x",
             "pipeline": [{"$facet": {"y": [{"$lookup": {"from": "c", "localField": "a",
                                                         "foreignField": "f", "as": "x"}}]}}]}}])",
       ""},
      // These lead anywhere.
      {R"([{"$unionWith": "c"}])", ""},
      {R"([{"$graphLookup": {"from": "c", "startWith": "$k.l", "connectFromField": "y",
                             "connectToField": "f", "as": "x"}}])",
       ""},
  };
  for (const auto& [pipeline, shards] : cases) {
    EXPECT_EQ(ShardPart(pipeline, colocation), shards) << pipeline;
  }
  colocation.simple_collation = false;
  EXPECT_EQ(ShardPart(cases[0].pipeline, colocation), "");
}

TEST(Colocation, WholeOnOneShard) {
  Colocation colocation;
  colocation.others = {{"db.c", ""}};
  const struct {
    std::string_view pipeline;
    bool alone;  // without the router
  } cases[] = {
      {R"([{"$lookup": {"from": "c", "localField": "a", "foreignField": "b", "as": "x"}}])", true},
      {R"([{"$group": {"_id": "$a"}}, {"$lookup": {"from": "c", "pipeline": [], "as": "x"}}])",
       true},
      {R"([{"$unionWith": "c"}, {"$sort": {"a": 1}}])", true},
      {R"([{"$graphLookup": {"from": "c", "startWith": "$a", "connectFromField": "y",
                             "connectToField": "f", "as": "x"}}])",
       true},
      {R"([{"$unionWith": "c"}, {"$unionWith": "d"}])", false},
      {R"([{"$lookup": {"from": "d", "localField": "a", "foreignField": "b", "as": "x"}}])", false},
      {R"([{"$unionWith": {"pipeline": [{"$documents": [{"a": 1}]}]}}])", false},
  };
  for (const auto& [json, alone] : cases) {
    QueryContext context;
    context.ns = "db.own";
    auto pipeline = Pipeline::Parse(Stages(json), context);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    EXPECT_TRUE(pipeline->NeedsRouter()) << json;
    const auto joined = pipeline->JoinOnShards(colocation);
    EXPECT_EQ(!pipeline->NeedsRouter(), alone) << json;
    if (alone) EXPECT_EQ(joined, std::vector<std::string>{"db.c"}) << json;
  }
}

}  // namespace
}  // namespace evenkeel::query
