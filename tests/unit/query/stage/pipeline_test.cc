// The pipeline as a whole: what it tells about itself, its division, and that divided it gives the
// same.
#include "query/stage/pipeline.h"

#include <algorithm>

#include "base/random.h"
#include "query/stage/stage.h"
#include "tests/unit/query/stage/run.h"

namespace evenkeel::query {
namespace {

Pipeline Parsed(std::string_view json, const QueryContext& context) {
  absl::StatusOr<Pipeline> pipeline = Pipeline::Parse(Stages(json), context);
  EXPECT_TRUE(pipeline.ok()) << json << pipeline.status();
  return *std::move(pipeline);
}

TEST(Pipeline, TellsAboutItself) {
  const QueryContext context;
  const Pipeline match = Parsed(R"([{"$match": {"a": 1}}, {"$limit": 1}])", context);
  EXPECT_EQ(bson::ToJson(match.LeadingMatch()), R"({"a":1})");
  EXPECT_NE(match.LeadingFilter(), nullptr);
  EXPECT_FALSE(match.HasOwnSource());
  EXPECT_EQ(match.FirstStageName(), "$match");
  EXPECT_FALSE(match.Writes());
  EXPECT_EQ(match.StageNotAllowedInTransaction(), "");
  const Pipeline stats = Parsed(R"([{"$collStats": {"count": {}}}])", context);
  EXPECT_TRUE(stats.HasOwnSource());
  EXPECT_TRUE(stats.LeadingMatch().empty());
  EXPECT_EQ(bson::ToDisplay(stats.FirstStageSpec()), "{ count: {} }");
  EXPECT_EQ(stats.StageNotAllowedInTransaction(), "$collStats");
  const Pipeline empty = Parsed("[]", context);
  EXPECT_EQ(empty.FirstStageName(), "");
  EXPECT_TRUE(empty.FirstStageSpec().missing());
  EXPECT_TRUE(Parsed(R"([{"$documents": []}])", context).HasOwnSource());
}

TEST(Pipeline, SkipsTheLeadingMatchWhenToldTo) {
  const QueryContext context;
  const Pipeline pipeline = Parsed(R"([{"$match": {"a": 1}}, {"$count": "n"}])", context);
  const std::vector<bson::Document> input = Documents(R"([{"a": 1}, {"a": 2}])");
  const auto checked = pipeline.Build(Queue(input), context);
  EXPECT_EQ(RunJson(**checked), JsonLines(R"([{"n": 1}])"));
  const auto trusted = pipeline.Build(Queue(input), context, true);
  EXPECT_EQ(RunJson(**trusted), JsonLines(R"([{"n": 2}])"));
}

TEST(Pipeline, Split) {
  const struct {
    std::string_view pipeline, shard, merge;
    bool sorted;
    int64_t limit;  // -1: none
  } cases[] = {
      {R"([{"$match": {"a": 1}}, {"$project": {"a": 1}}])",
       R"([{"$match": {"a": 1}}, {"$project": {"a": 1}}])", "[]", false, -1},
      {R"([{"$match": {"a": 1}}, {"$group": {"_id": "$a"}}, {"$match": {"_id": 1}}])",
       R"([{"$match": {"a": 1}}, {"$_partialGroup": {"_id": "$a"}}])",
       R"([{"$_mergeGroup": {"_id": "$a"}}, {"$match": {"_id": 1}}])", false, -1},
      {R"([{"$sort": {"a": 1}}, {"$project": {"a": 1}}])",
       R"([{"$_sortedStream": {"by": {"a": 1}}}])", R"([{"$project": {"a": 1}}])", true, -1},
      {R"([{"$sort": {"a": 1}}, {"$skip": 5}, {"$limit": 10}])",
       R"([{"$_sortedStream": {"by": {"a": 1}, "limit": {"$numberLong": "15"}}}])",
       R"([{"$skip": 5}, {"$limit": 10}])", true, 15},
      {R"([{"$limit": 3}, {"$count": "n"}])", R"([{"$limit": 3}])",
       R"([{"$limit": 3}, {"$count": "n"}])", false, 3},
      {R"([{"$skip": 5}, {"$limit": 10}])", R"([{"$limit": {"$numberLong": "15"}}])",
       R"([{"$skip": 5}, {"$limit": 10}])", false, 15},
      {R"([{"$skip": 5}])", "[]", R"([{"$skip": 5}])", false, -1},
      {R"([{"$count": "n"}])", R"([{"$count": "n"}])", R"([{"$_mergeCount": "n"}])", false, -1},
      {R"([{"$sample": {"size": 2}}])", R"([{"$_sampleStream": {"size": 2}}])",
       R"([{"$limit": {"$numberLong": "2"}}])", true, -1},
      {R"([{"$documents": [{"a": 1}]}, {"$match": {"a": 1}}])", "[]",
       R"([{"$documents": [{"a": 1}]}, {"$match": {"a": 1}}])", false, -1},
      {R"([{"$collStats": {"count": {}}}, {"$match": {"a": 1}}])",
       R"([{"$collStats": {"count": {}}}, {"$match": {"a": 1}}])", "[]", false, -1},
      {R"([{"$shardedDataDistribution": {}}])", "[]", R"([{"$shardedDataDistribution": {}}])",
       false, -1},
  };
  const QueryContext context;
  for (const auto& test : cases) {
    const SplitPipeline split = Parsed(test.pipeline, context).Split();
    EXPECT_EQ(split.shard_part.bytes(), Stages(test.shard).bytes())
        << test.pipeline << bson::ToJson(split.shard_part);
    EXPECT_EQ(split.merge_part.bytes(), Stages(test.merge).bytes())
        << test.pipeline << bson::ToJson(split.merge_part);
    EXPECT_EQ(split.merge_kind == MergeKind::kSorted, test.sorted) << test.pipeline;
    EXPECT_EQ(split.limit_per_shard.value_or(-1), test.limit) << test.pipeline;
  }
}

std::vector<bson::Document> RandomDocuments(base::Random& random, size_t count) {
  std::vector<bson::Document> documents;
  for (size_t i = 0; i < count; ++i) {
    bson::Builder builder;
    builder.Append("_id", static_cast<int32_t>(i));
    switch (random.Uniform(4)) {
      case 0:
        builder.Append("k", static_cast<int32_t>(random.Uniform(4)));
        break;
      case 1:
        builder.Append("k", static_cast<double>(random.Uniform(4)) + 0.5);
        break;
      case 2:
        builder.Append("k", "text");
        break;
      default:
        break;
    }
    builder.Append("v", static_cast<int64_t>(random.Uniform(1000)));
    builder.OpenArray("list");
    bson::ArrayAppender list(builder);
    for (uint64_t n = random.Uniform(3); n > 0; --n)
      list.Add(static_cast<int32_t>(random.Uniform(5)));
    builder.Close();
    documents.push_back(builder.Finish());
  }
  return documents;
}

// Pipelines whose result has an order, or is sorted by the test where `ordered` is false.
struct SplitCase {
  std::string_view pipeline;
  bool ordered;
};

constexpr SplitCase kSplitCases[] = {
    {"[]", false},
    {R"([{"$match": {"v": {"$gt": 500}}}, {"$project": {"k": 1, "w": {"$add": ["$v", 1]}}}])",
     false},
    {R"([{"$group": {"_id": "$k", "n": {"$sum": 1}, "s": {"$sum": "$v"}, "a": {"$avg": "$v"},
                     "lo": {"$min": "$v"}, "hi": {"$max": "$v"}, "c": {"$count": {}}}},
         {"$sort": {"_id": 1}}])",
     true},
    {R"([{"$group": {"_id": null, "all": {"$push": "$v"}, "set": {"$addToSet": "$k"}}},
         {"$project": {"n": {"$size": "$all"}, "s": {"$sum": "$all"}, "d": {"$size": "$set"}}}])",
     true},
    {R"([{"$sort": {"v": 1, "_id": 1}}])", true},
    {R"([{"$sort": {"v": -1, "_id": 1}}, {"$skip": 7}, {"$limit": 11}, {"$project": {"v": 1}}])",
     true},
    {R"([{"$sort": {"list": 1, "_id": -1}}, {"$limit": 20}])", true},
    {R"([{"$sort": {"v": 1, "_id": 1}}, {"$group": {"_id": "$k", "f": {"$first": "$_id"},
         "l": {"$last": "$_id"}, "p": {"$push": "$v"}}}, {"$sort": {"_id": 1}}])",
     true},
    {R"([{"$unwind": "$list"}, {"$sortByCount": "$list"}, {"$match": {"count": {"$gt": 0}}},
         {"$sort": {"count": -1, "_id": 1}}])",
     true},
    {R"([{"$match": {"k": "text"}}, {"$count": "n"}])", true},
    {R"([{"$match": {"k": "none"}}, {"$count": "n"}])", true},
    {R"([{"$limit": 10}, {"$count": "n"}])", true},
    {R"([{"$skip": 10}, {"$count": "n"}])", true},
    {R"([{"$skip": 10}, {"$limit": 25}, {"$count": "n"}])", true},
    {R"([{"$sample": {"size": 9}}, {"$count": "n"}])", true},
    {R"([{"$replaceWith": {"i": "$_id", "x": "$list"}}, {"$sort": {"i": 1}}])", true},
    {R"([{"$addFields": {"big": {"$gte": ["$v", 500]}}}, {"$group": {"_id": "$big",
         "top": {"$maxN": {"n": 3, "input": "$v"}}}}, {"$sort": {"_id": 1}}])",
     true},
};

TEST(Pipeline, DividedGivesTheWhole) {
  base::Random random(17);
  for (int round = 0; round < 5; ++round) {
    const std::vector<bson::Document> all = RandomDocuments(random, 120);
    std::vector<std::vector<bson::Document>> parts(3);
    for (const bson::Document& document : all) parts[random.Uniform(3)].push_back(document);
    for (const SplitCase& test : kSplitCases) {
      RowsOr whole = RunWhole(test.pipeline, all);
      RowsOr split = RunSplit(test.pipeline, parts);
      ASSERT_TRUE(whole.ok()) << test.pipeline << whole.status();
      ASSERT_TRUE(split.ok()) << test.pipeline << split.status();
      if (!test.ordered) {
        const auto by_bytes = [](const auto& a, const auto& b) { return a.bytes() < b.bytes(); };
        std::sort(whole->begin(), whole->end(), by_bytes);
        std::sort(split->begin(), split->end(), by_bytes);
      }
      EXPECT_EQ(Json(*split), Json(*whole)) << test.pipeline;
      EXPECT_EQ(TextOf(RunWhole(test.pipeline, all, {}, false)).size(), TextOf(whole).size());
    }
  }
}

TEST(Pipeline, EmptyShardsDoNoHarm) {
  const std::vector<std::vector<bson::Document>> parts(3);
  EXPECT_EQ(TextOf(RunSplit(R"([{"$group": {"_id": null, "n": {"$sum": 1}}}])", parts)), "");
  EXPECT_EQ(TextOf(RunSplit(R"([{"$count": "n"}])", parts)), "");
  EXPECT_EQ(TextOf(RunSplit(R"([{"$sort": {"a": 1}}, {"$limit": 1}])", parts)), "");
}

}  // namespace
}  // namespace evenkeel::query
