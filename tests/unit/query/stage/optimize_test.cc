// Rewrites: which stages a $match passes, joining, limits.
#include "query/stage/optimize.h"

#include "tests/unit/query/stage/run.h"

namespace evenkeel::query {
namespace {

TEST(Optimize, Rewrites) {
  const struct {
    std::string_view pipeline, optimized;
  } cases[] = {
      {R"([{"$sort": {"a": 1}}, {"$match": {"b": 1}}])",
       R"([{"$match": {"b": 1}}, {"$sort": {"a": 1}}])"},
      {R"([{"$sort": {"a": 1}}, {"$match": {"$expr": {"$eq": ["$a", 1]}}}])",
       R"([{"$match": {"$expr": {"$eq": ["$a", 1]}}}, {"$sort": {"a": 1}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"b": 1}}])",
       R"([{"$match": {"b": 1}}, {"$addFields": {"x": 1}}])"},
      {R"([{"$addFields": {"x.y": 1}}, {"$match": {"x": 1}}])",
       R"([{"$addFields": {"x.y": 1}}, {"$match": {"x": 1}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"$or": [{"b": 1}, {"x": 2}]}}])",
       R"([{"$addFields": {"x": 1}}, {"$match": {"$or": [{"b": 1}, {"x": 2}]}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"$expr": {"$eq": ["$b", 1]}}}])",
       R"([{"$addFields": {"x": 1}}, {"$match": {"$expr": {"$eq": ["$b", 1]}}}])"},
      {R"([{"$unset": "x"}, {"$match": {"b": 1}}])", R"([{"$match": {"b": 1}}, {"$unset": "x"}])"},
      {R"([{"$project": {"x": 0}}, {"$match": {"x": null}}])",
       R"([{"$project": {"x": 0}}, {"$match": {"x": null}}])"},
      {R"([{"$project": {"x": 1}}, {"$match": {"b": null}}])",
       R"([{"$project": {"x": 1}}, {"$match": {"b": null}}])"},
      {R"([{"$unwind": "$list"}, {"$match": {"b": 1}}])",
       R"([{"$match": {"b": 1}}, {"$unwind": "$list"}])"},
      {R"([{"$unwind": "$list"}, {"$match": {"list": 1}}])",
       R"([{"$unwind": "$list"}, {"$match": {"list": 1}}])"},
      {R"([{"$limit": 1}, {"$match": {"b": 1}}])", R"([{"$limit": 1}, {"$match": {"b": 1}}])"},
      {R"([{"$group": {"_id": "$a"}}, {"$match": {"_id": 1}}])",
       R"([{"$group": {"_id": "$a"}}, {"$match": {"_id": 1}}])"},
      {R"([{"$match": {"a": 1}}, {"$sort": {"a": 1}}, {"$match": {"b": 1}}])",
       R"([{"$match": {"$and": [{"a": 1}, {"b": 1}]}}, {"$sort": {"a": 1}}])"},
      {R"([{"$match": {}}, {"$match": {"b": 1}}, {"$match": {}}])", R"([{"$match": {"b": 1}}])"},
      {R"([{"$sortByCount": "$a"}])",
       R"([{"$group": {"_id": "$a", "count": {"$sum": 1}}}, {"$sort": {"count": -1}}])"},
  };
  const QueryContext context;
  for (const auto& test : cases) {
    absl::StatusOr<Pipeline> pipeline = Pipeline::Parse(Stages(test.pipeline), context);
    ASSERT_TRUE(pipeline.ok()) << test.pipeline << pipeline.status();
    pipeline->Optimize();
    EXPECT_EQ(pipeline->ToBson().bytes(), Stages(test.optimized).bytes())
        << test.pipeline << " gives " << bson::ToJson(pipeline->ToBson());
  }
}

TEST(RowsWanted, AddsSkipsUpToTheFirstLimit) {
  const struct {
    std::string_view pipeline;
    int64_t wanted;  // -1: no bound
  } cases[] = {
      {"[]", -1},
      {R"([{"$skip": 5}])", -1},
      {R"([{"$limit": 5}])", 5},
      {R"([{"$skip": 5}, {"$skip": 2}, {"$limit": 3}, {"$limit": 1}])", 10},
      {R"([{"$skip": 5}, {"$match": {}}, {"$limit": 3}])", -1},
      {R"([{"$skip": {"$numberLong": "9223372036854775807"}}, {"$limit": 3}])", -1},
  };
  const QueryContext context;
  for (const auto& test : cases) {
    const absl::StatusOr<Pipeline> pipeline = Pipeline::Parse(Stages(test.pipeline), context);
    ASSERT_TRUE(pipeline.ok());
    EXPECT_EQ(stage::RowsWanted(pipeline->stages(), 0).value_or(-1), test.wanted) << test.pipeline;
  }
}

// With the limit told to the sort, more rows than memory allows pass through it.
TEST(Optimize, SortLearnsItsLimit) {
  QueryContext context;
  context.memory_bytes_max = 10'000;
  std::vector<bson::Document> input;
  for (int i = 0; i < 1000; ++i) input.push_back(expr::Wrap(std::to_string(i)));
  const std::string_view pipeline = R"([{"$sort": {"v": -1}}, {"$skip": 1}, {"$limit": 2}])";
  EXPECT_EQ(TextOf(RunWhole(pipeline, input, context, false)), "error 146");
  EXPECT_EQ(TextOf(RunWhole(pipeline, input, context)), JsonLines(R"([{"v": 998}, {"v": 997}])"));
}

}  // namespace
}  // namespace evenkeel::query
