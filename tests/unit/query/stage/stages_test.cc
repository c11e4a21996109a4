// Each stage: what it gives, and what it refuses.
#include <gtest/gtest.h>

#include "tests/unit/query/stage/run.h"

namespace evenkeel::query {
namespace {

constexpr std::string_view kInput = R"([
    {"_id": 1, "k": "a", "v": 5, "tags": ["x", "y"], "o": {"p": 1}},
    {"_id": 2, "k": "b", "v": 3, "tags": [], "o": {"p": 2}},
    {"_id": 3, "k": "a", "v": 1, "o": {"p": 3}},
    {"_id": 4, "k": "c", "v": 4, "tags": "z", "o": {"p": 4}}])";

TEST(Stages, Results) {
  const struct {
    std::string_view pipeline, output;
  } cases[] = {
      {"[]", kInput},
      {R"([{"$match": {"k": "a"}}, {"$project": {"v": 1}}])",
       R"([{"_id": 1, "v": 5}, {"_id": 3, "v": 1}])"},
      {R"([{"$project": {"_id": 0, "twice": {"$multiply": ["$v", 2]}}}, {"$limit": 1}])",
       R"([{"twice": 10}])"},
      {R"([{"$match": {"_id": 1}}, {"$addFields": {"w": {"$add": ["$v", 1]}, "o.q": "$k"}}])",
       R"([{"_id": 1, "k": "a", "v": 5, "tags": ["x", "y"], "o": {"p": 1, "q": "a"}, "w": 6}])"},
      {R"([{"$limit": 1}, {"$unset": ["tags", "o.p"]}, {"$set": {"k": "$$REMOVE"}}])",
       R"([{"_id": 1, "v": 5, "o": {}}])"},
      {R"([{"$limit": 1}, {"$unset": "tags"}, {"$unset": "o"}])",
       R"([{"_id": 1, "k": "a", "v": 5}])"},
      {R"([{"$group": {"_id": "$k", "n": {"$sum": 1}, "s": {"$sum": "$v"}}}])",
       R"([{"_id": "a", "n": 2, "s": 6}, {"_id": "b", "n": 1, "s": 3},
           {"_id": "c", "n": 1, "s": 4}])"},
      {R"([{"$sort": {"k": -1, "v": 1}}, {"$project": {"v": 1}}])",
       R"([{"_id": 4, "v": 4}, {"_id": 2, "v": 3}, {"_id": 3, "v": 1}, {"_id": 1, "v": 5}])"},
      {R"([{"$sort": {"v": 1}}, {"$skip": 1}, {"$limit": 2}, {"$project": {"v": 1}}])",
       R"([{"_id": 2, "v": 3}, {"_id": 4, "v": 4}])"},
      {R"([{"$count": "n"}])", R"([{"n": 4}])"},
      {R"([{"$match": {"k": "none"}}, {"$count": "n"}])", "[]"},
      {R"([{"$unwind": "$tags"}, {"$project": {"tags": 1}}])",
       R"([{"_id": 1, "tags": "x"}, {"_id": 1, "tags": "y"}, {"_id": 4, "tags": "z"}])"},
      {R"([{"$unwind": {"path": "$tags", "preserveNullAndEmptyArrays": true}}, {"$count": "n"}])",
       R"([{"n": 5}])"},
      {R"([{"$replaceRoot": {"newRoot": "$o"}}, {"$limit": 2}])", R"([{"p": 1}, {"p": 2}])"},
      {R"([{"$replaceWith": {"id": "$_id"}}, {"$skip": 3}])", R"([{"id": 4}])"},
      {R"([{"$sortByCount": "$k"}, {"$limit": 1}])", R"([{"_id": "a", "count": 2}])"},
      {R"([{"$sample": {"size": 100}}, {"$count": "n"}])", R"([{"n": 4}])"},
      {R"([{"$documents": [{"a": 1}, {"a": {"$add": [1, 1]}}]}, {"$match": {"a": 2}}])",
       R"([{"a": 2}])"},
  };
  const std::vector<bson::Document> input = Documents(kInput);
  for (const auto& test : cases) {
    EXPECT_EQ(TextOf(RunWhole(test.pipeline, input)), JsonLines(test.output)) << test.pipeline;
    EXPECT_EQ(TextOf(RunWhole(test.pipeline, input, {}, false)), JsonLines(test.output))
        << test.pipeline << " without optimizing";
  }
}

TEST(Stages, ParseErrors) {
  const struct {
    std::string_view pipeline;
    int code;
  } cases[] = {
      {R"([1])", 14},
      {R"([{}])", 40323},
      {R"([{"$match": {}, "$limit": 1}])", 40323},
      {R"([{"$nothing": {}}])", 40324},
      {R"([{"match": {}}])", 40324},
      {R"([{"$lookup": {}}])", 9},
      {R"([{"$match": {}}, {"$collStats": {}}])", 40602},
      {R"([{"$match": {}}, {"$documents": []}])", 40602},
      {R"([{"$_mergeGroup": {"_id": 1}}])", 40324},
      {R"([{"$_partialGroup": {"_id": 1}}])", 40324},
      {R"([{"$_sortedStream": {"by": {"a": 1}}}])", 40324},
      {R"([{"$_mergeCount": "n"}])", 40324},
      {R"([{"$_sampleStream": {"size": 1}}])", 40324},
      {R"([{"$match": 1}])", 15959},
      {R"([{"$match": {"$nothing": 1}}])", 2},
      {R"([{"$project": 1}])", 15969},
      {R"([{"$project": {}}])", 51272},
      {R"([{"$set": 1}])", 40272},
      {R"([{"$unset": 1}])", 31002},
      {R"([{"$unset": []}])", 31119},
      {R"([{"$unset": [1]}])", 31120},
      {R"([{"$unset": "$a"}])", 16410},
      {R"([{"$unset": ""}])", 40352},
      {R"([{"$group": 1}])", 15947},
      {R"([{"$group": {"n": {"$sum": 1}}}])", 15955},
      {R"([{"$group": {"_id": {"a": 1}}}])", 17390},
      {R"([{"$group": {"_id": 1, "a.b": {"$sum": 1}}}])", 40235},
      {R"([{"$group": {"_id": 1, "$a": {"$sum": 1}}}])", 40236},
      {R"([{"$group": {"_id": 1, "a": 1}}])", 40234},
      {R"([{"$group": {"_id": 1, "a": {}}}])", 40234},
      {R"([{"$group": {"_id": 1, "a": {"$sum": 1, "$avg": 1}}}])", 40238},
      {R"([{"$group": {"_id": 1, "a": {"$nothing": 1}}}])", 15952},
      {R"([{"$group": {"_id": 1, "a": {"$sum": [1, 2]}}}])", 40237},
      {R"([{"$group": {"_id": {"$nothing": 1}}}])", 168},
      {R"([{"$sort": 1}])", 15973},
      {R"([{"$sort": {}}])", 15976},
      {R"([{"$sort": {"a": "x"}}])", 15974},
      {R"([{"$sort": {"a": 2}}])", 15975},
      {R"([{"$skip": "x"}])", 5107200},
      {R"([{"$skip": -1}])", 5107200},
      {R"([{"$skip": 1.5}])", 5107200},
      {R"([{"$limit": "x"}])", 5107201},
      {R"([{"$limit": 0}])", 15958},
      {R"([{"$count": 1}])", 40156},
      {R"([{"$count": ""}])", 40157},
      {R"([{"$count": "$a"}])", 40158},
      {R"([{"$count": "a.b"}])", 40160},
      {R"([{"$unwind": 1}])", 15981},
      {R"([{"$unwind": {"path": 1}}])", 28808},
      {R"([{"$unwind": {"path": "$a", "preserveNullAndEmptyArrays": 1}}])", 28809},
      {R"([{"$unwind": {"path": "$a", "includeArrayIndex": ""}}])", 28810},
      {R"([{"$unwind": {"path": "$a", "x": 1}}])", 28811},
      {R"([{"$unwind": ""}])", 28812},
      {R"([{"$unwind": {}}])", 28812},
      {R"([{"$unwind": "a"}])", 28818},
      {R"([{"$unwind": {"path": "$a", "includeArrayIndex": "$i"}}])", 28822},
      {R"([{"$replaceRoot": 1}])", 40229},
      {R"([{"$replaceRoot": {}}])", 40414},
      {R"([{"$replaceRoot": {"newRoot": "$a", "x": 1}}])", 40415},
      {R"([{"$sortByCount": 1}])", 40149},
      {R"([{"$sortByCount": "k"}])", 40148},
      {R"([{"$sortByCount": {"a": 1}}])", 40147},
      {R"([{"$sample": 1}])", 28745},
      {R"([{"$sample": {"size": "x"}}])", 28746},
      {R"([{"$sample": {"size": 0}}])", 28747},
      {R"([{"$sample": {"x": 1}}])", 28748},
      {R"([{"$sample": {}}])", 28749},
      {R"([{"$documents": 1}])", 5858203},
      {R"([{"$documents": [1]}])", 40228},
      {R"([{"$collStats": 1}])", 14},
      {R"([{"$collStats": {"nothing": {}}}])", 40415},
      {R"([{"$collStats": {"count": {"x": 1}}}])", 31170},
      {R"([{"$collStats": {"storageStats": {"scale": 0}}}])", 2},
      {R"([{"$collStats": {"storageStats": {"scale": "x"}}}])", 14},
      {R"([{"$currentOp": 1}])", 14},
      {R"([{"$currentOp": {"x": true}}])", 40415},
      {R"([{"$currentOp": {"allUsers": 1}}])", 14},
      {R"([{"$shardedDataDistribution": {"x": 1}}])", 6789100},
      {R"([{"$listClusterCatalog": {"shards": 1}}])", 14},
  };
  const QueryContext context;
  for (const auto& test : cases) {
    const absl::Status status = Pipeline::Parse(Stages(test.pipeline), context).status();
    EXPECT_EQ(static_cast<int>(CodeOf(status)), test.code) << test.pipeline << ": " << status;
  }
}

TEST(Stages, TooMany) {
  bson::Builder builder;
  bson::ArrayAppender array(builder);
  for (int i = 0; i < 1001; ++i) array.Add(expr::FromJsonOrDie(R"({"$skip": 0})"));
  const QueryContext context;
  EXPECT_EQ(static_cast<int>(CodeOf(Pipeline::Parse(builder.Finish(), context).status())), 7749501);
}

TEST(Stages, DriverFeedsItsSources) {
  const std::vector<bson::Document> rows = Documents(R"([{"ns": "a"}, {"ns": "b"}])");
  for (const std::string_view stage :
       {R"({"$collStats": {"count": {}}})", R"({"$currentOp": {"allUsers": true}})",
        R"({"$listClusterCatalog": {"shards": true}})", R"({"$shardedDataDistribution": {}})"}) {
    const std::string pipeline = "[" + std::string(stage) + R"(, {"$match": {"ns": "b"}}])";
    EXPECT_EQ(TextOf(RunWhole(pipeline, rows)), JsonLines(R"([{"ns": "b"}])")) << stage;
  }
}

}  // namespace
}  // namespace evenkeel::query
