// Sorting: whole, with a limit, with keys for a merger, and its memory.
#include "query/exec/sort.h"

#include <algorithm>

#include "base/random.h"
#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

SortPattern Pattern(std::string_view json) {
  absl::StatusOr<SortPattern> pattern = SortPattern::Parse(expr::FromJsonOrDie(json));
  EXPECT_TRUE(pattern.ok()) << pattern.status();
  return *std::move(pattern);
}

TEST(SortOperator, SortsStably) {
  const QueryContext context;
  const SortPattern pattern = Pattern(R"({"a": -1})");
  const std::vector<bson::Document> input =
      Documents(R"([{"a": 1, "n": 1}, {"a": 2}, {"b": 0}, {"a": 1, "n": 2}, {"a": "x"}])");
  SortOperator chain(Queue(input), pattern, {}, context);
  EXPECT_EQ(RunJson(chain), JsonLines(R"([{"a": "x"}, {"a": 2}, {"a": 1, "n": 1}, {"a": 1, "n": 2},
                                          {"b": 0}])"));
}

TEST(SortOperator, ALimitKeepsTheFirstRows) {
  const QueryContext context;
  const SortPattern pattern = Pattern(R"({"a": 1})");
  base::Random random(3);
  for (const int64_t limit : {1, 7, 1000}) {
    std::vector<bson::Document> input;
    for (int i = 0; i < 500; ++i) {
      bson::Builder builder;
      builder.Append("a", static_cast<int32_t>(random.Uniform(50))).Append("n", i);
      input.push_back(builder.Finish());
    }
    SortOperator all(Queue(input), pattern, {}, context);
    SortOperator some(Queue(input), pattern, {.limit = limit}, context);
    std::vector<bson::Document> expected = *RunToEnd(all);
    if (expected.size() > static_cast<size_t>(limit)) expected.resize(static_cast<size_t>(limit));
    EXPECT_EQ(RunJson(some), Json(expected)) << "limit " << limit;
  }
}

TEST(SortOperator, EmitsKeys) {
  const QueryContext context;
  const SortPattern pattern = Pattern(R"({"a": 1, "b": -1})");
  const std::vector<bson::Document> input = Documents(R"([{"a": 2, "b": 1}, {"a": 1}])");
  SortOperator chain(Queue(input), pattern, {.limit = {}, .emit_sort_key = true}, context);
  EXPECT_EQ(RunJson(chain), JsonLines(R"([{"a": 1, "$sortKey": [1, null]},
                                          {"a": 2, "b": 1, "$sortKey": [2, 1]}])"));
}

TEST(SortOperator, MemoryIsBounded) {
  QueryContext context;
  context.memory = MemoryLimits::All(20'000);
  const SortPattern pattern = Pattern(R"({"v": 1})");
  std::vector<bson::Document> input;
  for (int i = 0; i < 1000; ++i) input.push_back(expr::Wrap(std::to_string(i)));
  SortOperator may_spill(Queue(input), pattern, {}, context);
  EXPECT_EQ(RunJson(may_spill), "error 146");
  context.allow_disk_use = false;
  SortOperator may_not(Queue(input), pattern, {}, context);
  EXPECT_EQ(RunJson(may_not), "error 292");
  SortOperator few(Queue(input), pattern, {.limit = 10}, context);
  EXPECT_NE(RunJson(few).substr(0, 5), "error") << "the rows that fell out are not counted";
}

}  // namespace
}  // namespace evenkeel::query
