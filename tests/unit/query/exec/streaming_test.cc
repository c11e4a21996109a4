// Operators that hold nothing: filter, projection, replace root, skip, limit, unwind.
#include "query/exec/streaming.h"

#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

const QueryContext kContext;

TEST(FilterOperator, KeepsMatchingRowsAndReportsErrors) {
  const std::vector<bson::Document> input =
      Documents(R"([{"a": 1}, {"a": 2}, {"b": 1}, {"a": 1}])");
  const absl::StatusOr<Filter> filter = Filter::Parse(expr::FromJsonOrDie(R"({"a": 1})"), kContext);
  ASSERT_TRUE(filter.ok());
  FilterOperator chain(Queue(input), *filter);
  EXPECT_EQ(RunJson(chain), JsonLines(R"([{"a": 1}, {"a": 1}])"));

  const absl::StatusOr<Filter> failing =
      Filter::Parse(expr::FromJsonOrDie(R"({"$expr": {"$divide": [1, "$b"]}})"), kContext);
  ASSERT_TRUE(failing.ok());
  const std::vector<bson::Document> zero = Documents(R"([{"b": 0}])");
  FilterOperator fails(Queue(zero), *failing);
  EXPECT_EQ(RunJson(fails), "error 2");
}

TEST(ProjectOperator, ProjectsAndKeepsSortKeys) {
  const std::vector<bson::Document> input =
      Documents(R"([{"_id": 1, "a": 2, "b": 3, "$sortKey": [9]}])");
  const absl::StatusOr<Projection> projection =
      Projection::Parse(expr::FromJsonOrDie(R"({"a": 1})"), ProjectionKind::kFind, kContext);
  ASSERT_TRUE(projection.ok());
  ProjectOperator plain(Queue(input), *projection);
  EXPECT_EQ(RunJson(plain), JsonLines(R"([{"_id": 1, "a": 2}])"));
  ProjectOperator keyed(Queue(input), *projection, nullptr, true);
  EXPECT_EQ(RunJson(keyed), JsonLines(R"([{"_id": 1, "a": 2, "$sortKey": [9]}])"));
}

TEST(ReplaceRootOperator, NeedsObjects) {
  const std::vector<bson::Document> input = Documents(R"([{"a": {"b": 1}}, {"a": {}}])");
  const absl::StatusOr<ExpressionPtr> root =
      Expression::Parse(expr::Wrap(R"("$a")")["v"], kContext);
  ASSERT_TRUE(root.ok());
  ReplaceRootOperator chain(Queue(input), **root, kContext);
  EXPECT_EQ(RunJson(chain), JsonLines(R"([{"b": 1}, {}])"));
  const std::vector<bson::Document> scalar = Documents(R"([{"a": 1}])");
  ReplaceRootOperator fails(Queue(scalar), **root, kContext);
  EXPECT_EQ(RunJson(fails), "error 40228");
}

TEST(SkipAndLimit, CountAcrossBatches) {
  std::vector<bson::Document> input;
  for (int i = 0; i < 1000; ++i) input.push_back(expr::Wrap(std::to_string(i)));
  auto skip = std::make_unique<SkipOperator>(Queue(input), 300);
  LimitOperator chain(std::move(skip), 500);
  const absl::StatusOr<std::vector<bson::Document>> rows = RunToEnd(chain);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 500u);
  EXPECT_EQ(rows->front()["v"].AsInt32(), 300);
  EXPECT_EQ(rows->back()["v"].AsInt32(), 799);
}

TEST(UnwindOperator, Forms) {
  const struct {
    std::string_view path, index;
    bool preserve;
    std::string_view input, output;
  } cases[] = {
      {"a", "", false, R"([{"_id": 1, "a": [1, 2], "z": 0}])",
       R"([{"_id": 1, "a": 1, "z": 0}, {"_id": 1, "a": 2, "z": 0}])"},
      {"a", "", false, R"([{"a": []}, {"a": null}, {"b": 1}, {"a": 5}])", R"([{"a": 5}])"},
      {"a", "", true, R"([{"a": []}, {"a": null}, {"b": 1}])", R"([{}, {"a": null}, {"b": 1}])"},
      {"a.b", "", false, R"([{"a": {"b": [1, [2]], "c": 3}}])",
       R"([{"a": {"b": 1, "c": 3}}, {"a": {"b": [2], "c": 3}}])"},
      {"a", "i", false, R"([{"a": ["x", "y"]}])",
       R"([{"a": "x", "i": {"$numberLong": "0"}}, {"a": "y", "i": {"$numberLong": "1"}}])"},
      {"a", "i", true, R"([{"a": []}, {"a": 7}])", R"([{"i": null}, {"a": 7, "i": null}])"},
      {"a.b", "a.i", false, R"([{"a": {"b": [5]}}])",
       R"([{"a": {"b": 5, "i": {"$numberLong": "0"}}}])"},
      {"a.b", "", true, R"([{"a": [{"b": [1]}]}])", R"([{"a": [{"b": [1]}]}])"},
  };
  for (const auto& test : cases) {
    UnwindOptions options{
        .path = bson::Path(test.path), .index_as = {}, .preserve_empty = test.preserve};
    if (!test.index.empty()) options.index_as = bson::Path(test.index);
    const std::vector<bson::Document> input = Documents(test.input);
    UnwindOperator chain(Queue(input), options);
    EXPECT_EQ(RunJson(chain), JsonLines(test.output)) << test.input;
  }
}

}  // namespace
}  // namespace evenkeel::query
