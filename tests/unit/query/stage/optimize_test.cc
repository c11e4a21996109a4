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
       R"([{"$match": {"$and": [{"a": {"$eq": 1}}, {"$expr": {"$eq": ["$a", 1]}}]}},
           {"$sort": {"a": 1}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"b": 1}}])",
       R"([{"$match": {"b": 1}}, {"$addFields": {"x": 1}}])"},
      {R"([{"$addFields": {"x.y": 1}}, {"$match": {"x": 1}}])",
       R"([{"$addFields": {"x.y": 1}}, {"$match": {"x": 1}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"$or": [{"b": 1}, {"x": 2}]}}])",
       R"([{"$addFields": {"x": 1}}, {"$match": {"$or": [{"b": 1}, {"x": 2}]}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"$expr": {"$gt": ["$b", 1]}}}])",
       R"([{"$match": {"$expr": {"$gt": ["$b", 1]}}}, {"$addFields": {"x": 1}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"$expr": {"$gt": ["$x", "$b"]}}}])",
       R"([{"$addFields": {"x": 1}}, {"$match": {"$expr": {"$gt": ["$x", "$b"]}}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"$expr": {"$lt": [{"$rand": {}}, "$b"]}}}])",
       R"([{"$addFields": {"x": 1}}, {"$match": {"$expr": {"$lt": [{"$rand": {}}, "$b"]}}}])"},
      {R"([{"$addFields": {"x": 1}}, {"$match": {"b": 1, "x": 2}}])",
       R"([{"$match": {"b": 1}}, {"$addFields": {"x": 1}}, {"$match": {"x": 2}}])"},
      {R"([{"$unwind": "$l"}, {"$addFields": {"x": 1}},
           {"$match": {"$and": [{"l": 1, "b": 1}, {"x": 2}, {"$or": [{"c": 1}, {"d": 1}]}]}}])",
       R"([{"$match": {"$and": [{"b": 1}, {"$or": [{"c": 1}, {"d": 1}]}]}}, {"$unwind": "$l"},
           {"$match": {"l": 1}}, {"$addFields": {"x": 1}}, {"$match": {"x": 2}}])"},
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
      // $expr: equality and $in with a constant, on either side, in conjunctions.
      {R"([{"$match": {"$expr": {"$and": [{"$eq": [5, "$a.b"]}, {"$in": ["$c", [1, "x"]]}]}}}])",
       R"([{"$match": {"$and": [{"a.b": {"$eq": 5}}, {"c": {"$in": [1, "x"]}},
           {"$expr": {"$and": [{"$eq": [5, "$a.b"]}, {"$in": ["$c", [1, "x"]]}]}}]}}])"},
      {R"([{"$match": {"a": 5, "$expr": {"$eq": ["$a", 5]}}}])",
       R"([{"$match": {"a": 5, "$expr": {"$eq": ["$a", 5]}}}])"},
      {R"([{"$match": {"$expr": {"$eq": ["$a", null]}}}])",
       R"([{"$match": {"$expr": {"$eq": ["$a", null]}}}])"},
      {R"([{"$match": {"$expr": {"$eq": ["$a", "$b"]}}}])",
       R"([{"$match": {"$expr": {"$eq": ["$a", "$b"]}}}])"},
      {R"([{"$match": {"$expr": {"$or": [{"$eq": ["$a", 1]}]}}}])",
       R"([{"$match": {"$expr": {"$or": [{"$eq": ["$a", 1]}]}}}])"},
      // A sort for the first and last of groups only.
      {R"([{"$sort": {"d": -1}}, {"$group": {"_id": "$g", "f": {"$first": "$v"}, "n": {"$sum": 1},
           "l": {"$lastN": {"n": 2, "input": "$v"}}}}])",
       R"([{"$group": {"_id": "$g", "f": {"$top": {"sortBy": {"d": -1}, "output": "$v"}},
           "n": {"$sum": 1},
           "l": {"$bottomN": {"sortBy": {"d": -1}, "output": "$v", "n": 2}},
           "\u0001order": {"$top": {"sortBy": {"d": -1}, "output": {"k0": "$d"}}}}},
           {"$sort": {"\u0001order.k0": -1}}, {"$project": {"\u0001order": 0}}])"},
      {R"([{"$sort": {"d": -1}}, {"$group": {"_id": "$g", "f": {"$first": "$v"}}}, {"$count": "n"}])",
       R"([{"$group": {"_id": "$g", "f": {"$top": {"sortBy": {"d": -1}, "output": "$v"}}}},
           {"$count": "n"}])"},
      {R"([{"$sort": {"d": 1}}, {"$group": {"_id": "$g", "f": {"$first": "$v"},
           "p": {"$push": "$v"}}}])",
       R"([{"$project": {"d": true, "g": true, "v": true, "_id": false}}, {"$sort": {"d": 1}},
           {"$group": {"_id": "$g", "f": {"$first": "$v"}, "p": {"$push": "$v"}}}])"},
      // Rows are narrowed where they are kept, sent or copied.
      {R"([{"$match": {"m": 1}}, {"$sort": {"a.x": 1}}, {"$project": {"b": 1}}])",
       R"([{"$match": {"m": 1}}, {"$project": {"a": true, "b": true, "_id": true}},
           {"$sort": {"a.x": 1}}, {"$project": {"b": 1}}])"},
      {R"([{"$sort": {"a": 1}}, {"$limit": 5}, {"$project": {"b": 1}}])",
       R"([{"$sort": {"a": 1}}, {"$limit": 5}, {"$project": {"b": 1}}])"},
      {R"([{"$unwind": "$l"}, {"$group": {"_id": "$l.k", "s": {"$sum": "$v"}}}])",
       R"([{"$project": {"l": true, "v": true, "_id": false}}, {"$unwind": "$l"},
           {"$group": {"_id": "$l.k", "s": {"$sum": "$v"}}}])"},
      {R"([{"$sort": {"a": 1}}, {"$group": {"_id": "$a", "p": {"$push": "$$ROOT"}}}])",
       R"([{"$sort": {"a": 1}}, {"$group": {"_id": "$a", "p": {"$push": "$$ROOT"}}}])"},
      {R"([{"$sort": {"a": 1}}, {"$addFields": {"x": "$b"}}])",
       R"([{"$sort": {"a": 1}}, {"$addFields": {"x": "$b"}}])"},
      {R"([{"$group": {"_id": "$a"}}, {"$sort": {"_id": 1}}])",
       R"([{"$group": {"_id": "$a"}}, {"$sort": {"_id": 1}}])"},
      // $lookup and its $unwind.
      {R"([{"$lookup": {"from": "o", "localField": "a", "foreignField": "b", "as": "f"}},
           {"$unwind": "$f"}])",
       R"([{"$_lookupUnwinding": {"lookup": {"from": "o", "localField": "a", "foreignField": "b",
           "as": "f"}, "unwinding": "$f"}}])"},
      {R"([{"$lookup": {"from": "o", "localField": "a", "foreignField": "b", "as": "f"}},
           {"$unwind": "$a"}])",
       R"([{"$lookup": {"from": "o", "localField": "a", "foreignField": "b", "as": "f"}},
           {"$unwind": "$a"}])"},
      {R"([{"$sortByCount": "$a"}])",
       R"([{"$group": {"_id": "$a", "count": {"$sum": 1}}}, {"$sort": {"count": -1}}])"},
  };
  QueryContext context;
  context.ns = "db.c";
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

// Whatever is rewritten, the result stays.
TEST(Optimize, KeepsResults) {
  std::vector<bson::Document> input = Documents(
      R"([{"_id": 1, "a": 1, "b": [1, 2], "g": "x", "d": 3}, {"_id": 2, "a": [1, 5], "b": 2, "g": "x", "d": 1},
          {"_id": 3, "b": [], "g": "y", "d": 2}, {"_id": 4, "a": {"x": 1}, "g": "y", "d": 2},
          {"_id": 5, "a": 1.0, "b": [{"k": 1}, {"k": 2}], "d": [0, 9]}, {"_id": 6, "a": null, "g": "x"}])");
  for (
      const std::string_view pipeline : {
          R"([{"$match": {"$expr": {"$eq": ["$a", 1]}}}])",
          R"([{"$match": {"$expr": {"$eq": ["$b.k", 1]}}}])",
          R"([{"$match": {"$expr": {"$in": ["$a", [1, {"x": 1}]]}}}])",
          R"([{"$addFields": {"x": "$d"}}, {"$match": {"a": 1, "x": {"$gt": 1}}}])",
          R"([{"$unwind": "$b"}, {"$match": {"b": 2, "g": "x"}}])",
          R"([{"$sort": {"d": 1}}, {"$group": {"_id": "$g", "f": {"$first": "$a"}, "l": {"$last": "$_id"},
               "t": {"$firstN": {"n": 2, "input": "$d"}}}}, {"$sort": {"_id": 1}}])",
          R"([{"$sort": {"d": -1}}, {"$project": {"a": 1}}])",
          R"([{"$sort": {"d": -1}}, {"$project": {"_id": 0, "y": {"$add": ["$d", 1]}}}])",
          R"([{"$unwind": "$b"}, {"$group": {"_id": "$b.k", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}])",
          R"([{"$unwind": "$b"}, {"$count": "n"}])",
          R"([{"$sort": {"_id": -1}}, {"$replaceWith": {"a": "$a", "d": "$d"}}])",
      }) {
    EXPECT_EQ(TextOf(RunWhole(pipeline, input)), TextOf(RunWhole(pipeline, input, {}, false)))
        << pipeline;
  }
}

// With the limit told to the sort, more rows than memory allows pass through it.
TEST(Optimize, SortLearnsItsLimit) {
  QueryContext context;
  context.memory = MemoryLimits::All(10'000);
  std::vector<bson::Document> input;
  for (int i = 0; i < 1000; ++i) input.push_back(expr::Wrap(std::to_string(i)));
  const std::string_view pipeline = R"([{"$sort": {"v": -1}}, {"$skip": 1}, {"$limit": 2}])";
  EXPECT_EQ(TextOf(RunWhole(pipeline, input, context, false)), "error 146");
  EXPECT_EQ(TextOf(RunWhole(pipeline, input, context)), JsonLines(R"([{"v": 998}, {"v": 997}])"));
}

}  // namespace
}  // namespace evenkeel::query
