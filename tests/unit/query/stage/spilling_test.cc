// Every blocking stage with almost no memory gives what it gives with enough, and leaves no file.
#include <algorithm>

#include "base/random.h"
#include "tests/unit/query/exec/spill.h"
#include "tests/unit/query/stage/run.h"

namespace evenkeel::query {
namespace {

// Rows {n: order, g: few values, v: many, s: a string, t: sometimes missing}.
std::vector<bson::Document> Rows(int count) {
  base::Random random(11);
  std::vector<bson::Document> rows;
  for (int i = 0; i < count; ++i) {
    bson::Builder row;
    row.Append("n", i).Append("g", static_cast<int32_t>(random.Uniform(7)));
    row.Append("v", static_cast<int32_t>(random.Uniform(900)));
    row.Append("s", std::string(random.Uniform(40), 'x'));
    if (random.Uniform(3) > 0) row.Append("t", static_cast<int32_t>(random.Uniform(50)));
    rows.push_back(row.Finish());
  }
  return rows;
}

std::string SortedLines(const RowsOr& rows) {
  if (!rows.ok()) return rows.status().ToString();
  std::vector<std::string> lines;
  for (const bson::Document& row : *rows) lines.push_back(bson::ToJson(row));
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

constexpr std::string_view kPipelines[] = {
    R"([{"$sort": {"v": 1, "n": -1}}])",
    R"([{"$sort": {"t": -1}}, {"$skip": 100}, {"$limit": 900}])",
    R"([{"$group": {"_id": "$v", "n": {"$sum": 1}, "a": {"$avg": "$t"}, "m": {"$max": "$s"},
        "d": {"$stdDevPop": "$t"}}}, {"$set": {"d": {"$round": ["$d", 6]}}}])",
    R"([{"$group": {"_id": {"v": "$v", "t": "$t"}, "f": {"$first": "$n"}, "l": {"$last": "$n"},
        "p": {"$push": "$n"}, "two": {"$firstN": {"n": 2, "input": "$n"}}}}])",
    R"([{"$group": {"_id": "$v", "s": {"$addToSet": "$g"}, "b": {"$bottom": {"sortBy": {"n": 1},
        "output": "$s"}}, "o": {"$mergeObjects": {"x": "$t"}},
        "q": {"$median": {"input": "$t", "method": "approximate"}}}},
        {"$set": {"s": {"$sortArray": {"input": "$s", "sortBy": 1}}}}])",
    R"([{"$bucketAuto": {"groupBy": "$v", "buckets": 7, "output": {"n": {"$sum": 1},
        "p": {"$first": "$n"}}}}])",
    R"([{"$bucketAuto": {"groupBy": "$v", "buckets": 5, "granularity": "R10"}}])",
    R"([{"$setWindowFields": {"partitionBy": "$g", "sortBy": {"n": 1}, "output": {
        "run": {"$sum": "$v", "window": {"documents": ["unbounded", "current"]}},
        "near": {"$max": "$t", "window": {"documents": [-3, 1]}}, "r": {"$documentNumber": {}},
        "before": {"$shift": {"output": "$v", "by": -1}}}}}])",
    R"([{"$setWindowFields": {"partitionBy": "$g", "output": {"all": {"$sum": "$v"}}}}])",
    R"([{"$densify": {"field": "v", "range": {"step": 10, "bounds": "full"}}}])",
    R"([{"$densify": {"field": "v", "partitionByFields": ["g"],
        "range": {"step": 10, "bounds": "partition"}}}])",
    R"([{"$fill": {"partitionBy": "$g", "sortBy": {"n": 1}, "output": {"t": {"method": "locf"}}}}])",
    R"([{"$sample": {"size": 5000}}])",
    R"([{"$bucket": {"groupBy": "$v", "boundaries": [0, 100, 1000],
        "output": {"n": {"$sum": 1}}}}])",
    R"([{"$sortByCount": "$v"}])",
    R"([{"$facet": {"a": [{"$sort": {"v": 1, "n": 1}}, {"$skip": 1980}, {"$project": {"n": 1}}],
        "b": [{"$group": {"_id": "$v", "n": {"$sum": 1}}}, {"$sort": {"n": -1, "_id": 1}},
              {"$limit": 3}]}}])",
};

TEST(Spilling, GivesTheSame) {
  const std::vector<bson::Document> rows = Rows(2000);
  for (const std::string_view pipeline : kPipelines) {
    Spilling disk;
    disk.context.memory.facet = MemoryLimits::kDefaultBytes;  // its result is one document
    const std::string expected = SortedLines(RunWhole(pipeline, rows));
    EXPECT_EQ(SortedLines(RunWhole(pipeline, rows, disk.context)), expected) << pipeline;
    if (!pipeline.starts_with(R"([{"$bucket")")) {
      EXPECT_GT(disk.folder->made_count(), 0u) << pipeline;
    }
    EXPECT_EQ(disk.folder->file_count(), 0) << pipeline;
  }
}

TEST(Spilling, GivesTheSameInHalves) {
  const std::vector<bson::Document> rows = Rows(2000);
  std::vector<std::vector<bson::Document>> parts(3);
  for (size_t i = 0; i < rows.size(); ++i) parts[i * 3 / rows.size()].push_back(rows[i]);
  for (const std::string_view pipeline : kPipelines) {
    // Streams of shards come together in any order.
    const bool ordered = pipeline.find("$push") != std::string_view::npos ||
                         pipeline.find("$mergeObjects") != std::string_view::npos;
    if (ordered) continue;
    Spilling disk;
    disk.context.memory.facet = MemoryLimits::kDefaultBytes;
    const std::string expected = SortedLines(RunWhole(pipeline, rows));
    EXPECT_EQ(SortedLines(RunSplit(pipeline, parts, disk.context)), expected) << pipeline;
    EXPECT_EQ(disk.folder->file_count(), 0) << pipeline;
  }
}

// Order is part of the result of a sort.
TEST(Spilling, KeepsTheOrder) {
  const std::vector<bson::Document> rows = Rows(2000);
  Spilling disk;
  for (const std::string_view pipeline :
       {R"([{"$sort": {"g": 1, "v": -1}}])", R"([{"$sort": {"t": 1}}, {"$limit": 700}])"}) {
    EXPECT_EQ(TextOf(RunWhole(pipeline, rows, disk.context)), TextOf(RunWhole(pipeline, rows)));
  }
}

TEST(Spilling, IsRefusedWhereItIsNotAllowed) {
  const std::vector<bson::Document> rows = Rows(2000);
  Spilling disk;
  disk.context.allow_disk_use = false;
  for (const std::string_view pipeline :
       {R"([{"$sort": {"v": 1}}])", R"([{"$group": {"_id": "$n"}}])",
        R"([{"$bucketAuto": {"groupBy": "$v", "buckets": 7}}])",
        R"([{"$setWindowFields": {"output": {"all": {"$sum": "$v"}}}}])"}) {
    EXPECT_EQ(TextOf(RunWhole(pipeline, rows, disk.context)), "error 292") << pipeline;
  }
  EXPECT_EQ(disk.folder->made_count(), 0u);
}

// One group cannot be parted, whatever the disk has room for.
TEST(Spilling, AGroupLargerThanMemoryIsRefused) {
  const std::vector<bson::Document> rows = Rows(2000);
  Spilling disk;
  EXPECT_EQ(TextOf(RunWhole(R"([{"$group": {"_id": null, "all": {"$push": "$$ROOT"}}}])", rows,
                            disk.context)),
            "error 146");
}

TEST(Spilling, AFullDiskIsAnErrorAndLeavesNoFile) {
  const std::vector<bson::Document> rows = Rows(2000);
  Spilling disk;
  disk.folder->SetFreeBytesMin(INT64_MAX);
  for (const std::string_view pipeline :
       {R"([{"$sort": {"v": 1}}])", R"([{"$group": {"_id": "$n"}}])"}) {
    EXPECT_EQ(TextOf(RunWhole(pipeline, rows, disk.context)), "error 14031") << pipeline;
  }
  EXPECT_EQ(disk.folder->file_count(), 0);
}

}  // namespace
}  // namespace evenkeel::query
