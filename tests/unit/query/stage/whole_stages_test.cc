// Stages that need their whole input: what they give in one piece and over shards' parts.
#include <gtest/gtest.h>

#include "tests/unit/query/stage/run.h"

namespace evenkeel::query {
namespace {

struct Case {
  std::string_view input, pipeline, output;
};

// The rows may come from one place or from several: the result is the same.
void ExpectResult(const Case& test) {
  const std::vector<bson::Document> input = Documents(test.input);
  EXPECT_EQ(TextOf(RunWhole(test.pipeline, input)), JsonLines(test.output)) << test.pipeline;
  std::vector<std::vector<bson::Document>> parts(3);
  for (size_t i = 0; i < input.size(); ++i) parts[i * 3 / input.size()].push_back(input[i]);
  EXPECT_EQ(TextOf(RunSplit(test.pipeline, parts)), JsonLines(test.output)) << test.pipeline;
}

constexpr std::string_view kRows = R"([{"_id": 1, "g": "a", "v": 5}, {"_id": 2, "g": "b", "v": 3},
    {"_id": 3, "g": "a", "v": 1}, {"_id": 4, "g": "b", "v": 9}])";

TEST(WholeStages, Buckets) {
  const Case cases[] = {
      {kRows, R"([{"$bucket": {"groupBy": "$v", "boundaries": [0, 4, 8], "default": "more"}}])",
       R"([{"_id": 0, "count": 2}, {"_id": 4, "count": 1}, {"_id": "more", "count": 1}])"},
      {kRows, R"([{"$bucketAuto": {"groupBy": "$v", "buckets": 2}}])",
       R"([{"_id": {"min": 1, "max": 5}, "count": 2}, {"_id": {"min": 5, "max": 9}, "count": 2}])"},
      {kRows,
       R"([{"$bucketAuto": {"groupBy": "$v", "buckets": 1, "output": {"s": {"$sum": "$v"}}}}])",
       R"([{"_id": {"min": 1, "max": 9}, "s": 18}])"},
      {kRows, R"([{"$facet": {"n": [{"$count": "n"}], "top": [{"$sort": {"v": -1}}, {"$limit": 1}],
                              "none": [{"$match": {"v": 77}}]}}])",
       R"([{"n": [{"n": 4}], "top": [{"_id": 4, "g": "b", "v": 9}], "none": []}])"},
  };
  for (const Case& test : cases) ExpectResult(test);
}

TEST(WholeStages, Redact) {
  ExpectResult({R"([{"_id": 1, "l": 1, "a": {"l": 2, "x": 1}, "b": [{"l": 1}, {"l": 9}, 7]}])",
                R"([{"$redact": {"$cond": [{"$gt": ["$l", 1]}, "$$PRUNE", "$$DESCEND"]}}])",
                R"([{"_id": 1, "l": 1, "b": [{"l": 1}, 7]}])"});
}

TEST(WholeStages, Gaps) {
  const Case cases[] = {
      {R"([{"t": 1}, {"t": 4}])",
       R"([{"$densify": {"field": "t", "range": {"step": 1, "bounds": "full"}}}])",
       R"([{"t": 1}, {"t": 2}, {"t": 3}, {"t": 4}])"},
      {R"([{"t": 1}, {"t": 3}])",
       R"([{"$densify": {"field": "t", "range": {"step": 1, "bounds": [0, 5]}}}])",
       R"([{"t": 0}, {"t": 1}, {"t": 2}, {"t": 3}, {"t": 4}])"},
      {R"([{"p": 1, "t": 1}, {"p": 1, "t": 3}, {"p": 2, "t": 7}])",
       R"([{"$densify": {"field": "t", "partitionByFields": ["p"],
                         "range": {"step": 1, "bounds": "partition"}}}])",
       R"([{"p": 1, "t": 1}, {"p": 1, "t": 2}, {"p": 1, "t": 3}, {"p": 2, "t": 7}])"},
      {R"([{"t": 1, "v": 1}, {"t": 2, "v": null}, {"t": 3}])",
       R"([{"$fill": {"sortBy": {"t": 1}, "output": {"v": {"method": "locf"}}}}])",
       R"([{"t": 1, "v": 1}, {"t": 2, "v": 1}, {"t": 3, "v": 1}])"},
      {R"([{"t": 1, "v": 1}, {"t": 2}])", R"([{"$fill": {"output": {"v": {"value": 0}}}}])",
       R"([{"t": 1, "v": 1}, {"t": 2, "v": 0}])"},
  };
  for (const Case& test : cases) ExpectResult(test);
}

// One window function over the rows, by partition.
TEST(WholeStages, WindowFunctions) {
  constexpr std::string_view kSeries = R"([{"p": 1, "t": 1, "v": 2}, {"p": 1, "t": 2, "v": 4},
                                           {"p": 1, "t": 4, "v": 8}, {"p": 2, "t": 1, "v": 1}])";
  const struct {
    std::string_view function;
    std::string_view results;  // of the field "r"
  } cases[] = {
      {R"({"$sum": "$v", "window": {"documents": ["unbounded", "current"]}})", "[2, 6, 14, 1]"},
      {R"({"$sum": "$v", "window": {"documents": [-1, 0]}})", "[2, 6, 12, 1]"},
      {R"({"$sum": "$v", "window": {"range": [-1, 1]}})", "[6, 6, 8, 1]"},
      {R"({"$max": "$v", "window": {"documents": [1, 2]}})", "[8, 8, null, null]"},
      {R"({"$push": "$v", "window": {"documents": ["current", 1]}})", "[[2, 4], [4, 8], [8], [1]]"},
      {R"({"$rank": {}})", "[1, 2, 3, 1]"},
      {R"({"$documentNumber": {}})", "[1, 2, 3, 1]"},
      {R"({"$shift": {"output": "$v", "by": 1, "default": 0}})", "[4, 8, 0, 0]"},
      {R"({"$derivative": {"input": "$v"}, "window": {"documents": [-1, 0]}})",
       "[null, 2.0, 2.0, null]"},
      {R"({"$integral": {"input": "$v"}, "window": {"documents": ["unbounded", "current"]}})",
       "[0.0, 3.0, 15.0, 0.0]"},
      {R"({"$locf": "$v"})", "[2, 4, 8, 1]"},
      {R"({"$minMaxScaler": {"input": "$v"}})", "[0.0, 0.3333333333333333, 1.0, 0]"},
      {R"({"$topN": {"n": 1, "sortBy": {"v": -1}, "output": "$v"}})", "[[8], [8], [8], [1]]"},
  };
  const std::vector<bson::Document> input = Documents(kSeries);
  for (const auto& test : cases) {
    const std::string pipeline =
        R"([{"$setWindowFields": {"partitionBy": "$p", "sortBy": {"t": 1}, "output": {"r": )" +
        std::string(test.function) + R"(}}}, {"$group": {"_id": null, "r": {"$push": "$r"}}}])";
    const std::string output = R"([{"_id": null, "r": )" + std::string(test.results) + "}]";
    EXPECT_EQ(TextOf(RunWhole(pipeline, input)), JsonLines(output)) << test.function;
  }
}

TEST(WholeStages, ParseErrors) {
  const struct {
    std::string_view stage;
    int code;
  } cases[] = {
      {R"({"$bucket": {"groupBy": "$v", "boundaries": [1]}})", 40192},
      {R"({"$bucket": {"groupBy": "$v", "boundaries": [1, "a"]}})", 40193},
      {R"({"$bucket": {"groupBy": "$v", "boundaries": [2, 1]}})", 40194},
      {R"({"$bucketAuto": {"groupBy": "$v", "buckets": 0}})", 40243},
      {R"({"$facet": {"a": [{"$facet": {"b": []}}]}})", 40600},
      {R"({"$setWindowFields": {"output": {"r": {"$sum": 1, "window": {"documents": [-1, 0]}}}}})",
       5339901},
      {R"({"$setWindowFields": {"sortBy": {"t": -1}, "output": {"r": {"$sum": 1,
           "window": {"range": [-1, 0]}}}}})",
       8947401},
      {R"({"$lookup": {"from": "x", "as": "y"}})", 9},
      {R"({"$lookup": {"from": "x", "as": "y", "pipeline": [{"$out": "z"}]}})", 51047},
      {R"({"$unionWith": {"coll": "x", "pipeline": [{"$out": "z"}]}})", 31441},
      {R"({"$graphLookup": {"from": "x"}})", 40105},
      {R"({"$out": 1})", 16990},
      {R"({"$merge": {"into": 1}})", 51178},
      {R"({"$rankFusion": {"input": {"pipelines": {"a": [{"$match": {}}]}}}})", 9191100},
  };
  for (const auto& test : cases) {
    const std::string pipeline = "[" + std::string(test.stage) + "]";
    EXPECT_EQ(TextOf(RunWhole(pipeline, {})), "error " + std::to_string(test.code)) << test.stage;
  }
}

}  // namespace
}  // namespace evenkeel::query
