// find's operators: the halves of three shards give what one process gives.
#include "query/exec/find_exec.h"

#include <algorithm>

#include "base/random.h"
#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

struct Case {
  std::string_view sort, projection;
  int64_t skip;
  int64_t limit;  // 0: none
};

std::vector<bson::Document> RandomDocuments(base::Random& random, size_t count) {
  std::vector<bson::Document> documents;
  for (size_t i = 0; i < count; ++i) {
    bson::Builder builder;
    builder.Append("_id", static_cast<int32_t>(i));
    builder.Append("a", static_cast<int32_t>(random.Uniform(20)));
    if (random.Chance(0.5)) builder.Append("b", random.Chance(0.5) ? "x" : "y");
    documents.push_back(builder.Finish());
  }
  return documents;
}

TEST(FindPipeline, ShardsMergeToTheWhole) {
  const Case cases[] = {
      {"{}", "{}", 0, 0},
      {R"({"_id": 1})", "{}", 0, 0},
      {R"({"_id": -1})", "{}", 10, 20},
      {R"({"a": 1, "_id": -1})", R"({"b": 1})", 5, 30},
      {R"({"b": -1, "_id": 1})", R"({"a": 0})", 0, 7},
      {"{}", R"({"b": 1})", 0, 0},
      {R"({"_id": 1})", "{}", 500, 0},
  };
  const QueryContext context;
  base::Random random(5);
  for (const Case& test : cases) {
    for (const bool sorted : {false, true}) {
      const std::vector<bson::Document> all = RandomDocuments(random, 200);
      const bson::Document sort = expr::FromJsonOrDie(test.sort);
      const bson::Document projection = expr::FromJsonOrDie(test.projection);
      FindRequest request;
      request.sort = sort;
      request.projection = projection;
      request.skip = test.skip;
      if (test.limit != 0) request.limit = test.limit;
      const absl::StatusOr<std::unique_ptr<FindPipeline>> find =
          FindPipeline::Parse(request, context);
      ASSERT_TRUE(find.ok()) << find.status();
      if (sorted && !(*find)->needs_merge_sort()) continue;

      std::vector<std::vector<bson::Document>> parts(3);
      for (const bson::Document& document : all) parts[random.Uniform(3)].push_back(document);
      std::vector<InputQueue> streams(3);
      std::vector<Operator*> inputs;
      for (size_t i = 0; i < 3; ++i) {
        if (sorted) {
          std::stable_sort(parts[i].begin(), parts[i].end(), [&](const auto& a, const auto& b) {
            return (*find)->sort().CompareDocuments(a, b, nullptr) < 0;
          });
        }
        const auto shard = (*find)->ShardPart(Queue(parts[i]), nullptr, sorted);
        absl::StatusOr<std::vector<bson::Document>> rows = RunToEnd(*shard);
        ASSERT_TRUE(rows.ok()) << rows.status();
        if (const auto limit = (*find)->limit_per_shard()) {
          EXPECT_LE(rows->size(), static_cast<size_t>(*limit));
        }
        for (bson::Document& row : *rows) streams[i].Push(Row::Own(std::move(row)));
        streams[i].Finish();
        inputs.push_back(&streams[i]);
      }
      const auto merged = (*find)->MergePart(inputs);
      const auto whole = (*find)->Whole(Queue(all), nullptr, false);
      std::vector<bson::Document> got = *RunToEnd(*merged);
      std::vector<bson::Document> want = *RunToEnd(*whole);
      if (!(*find)->needs_merge_sort()) {
        const auto by_bytes = [](const auto& a, const auto& b) { return a.bytes() < b.bytes(); };
        std::sort(got.begin(), got.end(), by_bytes);
        std::sort(want.begin(), want.end(), by_bytes);
      }
      EXPECT_EQ(Json(got), Json(want)) << test.sort << test.projection;
    }
  }
}

TEST(FindPipeline, WholeAppliesEverything) {
  const QueryContext context;
  const std::vector<bson::Document> input =
      Documents(R"([{"_id": 1, "a": 3}, {"_id": 2, "a": 1}, {"_id": 3, "a": 2}])");
  const bson::Document sort = expr::FromJsonOrDie(R"({"a": 1})");
  const bson::Document projection = expr::FromJsonOrDie(R"({"_id": 0})");
  FindRequest request;
  request.sort = sort;
  request.projection = projection;
  request.skip = 1;
  request.limit = 1;
  const auto find = FindPipeline::Parse(request, context);
  ASSERT_TRUE(find.ok());
  EXPECT_EQ((*find)->limit_per_shard(), 2);
  const auto chain = (*find)->Whole(Queue(input), nullptr, false);
  EXPECT_EQ(RunJson(*chain), JsonLines(R"([{"a": 2}])"));
}

}  // namespace
}  // namespace evenkeel::query
