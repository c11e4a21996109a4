// $group's operator: whole, in two halves, its keys and its memory.
#include "query/exec/group.h"

#include "query/accum/table.h"
#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

// {_id: …, field: {$op: …}, …} as the operator takes it.
GroupSpec Spec(std::string_view json, const QueryContext& context) {
  const bson::Document parsed = expr::FromJsonOrDie(json);
  ParseScope scope(context);
  GroupSpec spec;
  for (const auto& [key, value] : parsed.view()) {
    if (key == "_id") {
      spec.id = *Expression::Parse(value, scope);
      continue;
    }
    const bson::Element op = value.AsDocument().Front();
    absl::StatusOr<accum::AccumSpec> accumulator =
        accum::ParseGroupAccumulator(op.key, op.value, scope);
    EXPECT_TRUE(accumulator.ok()) << accumulator.status();
    spec.fields.push_back({std::string(key), *std::move(accumulator)});
  }
  return spec;
}

TEST(GroupOperator, Whole) {
  const QueryContext context;
  const std::vector<bson::Document> input = Documents(
      R"([{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 3},
          {"v": 4}, {"k": null, "v": 5}])");
  const struct {
    std::string_view spec, output;
  } cases[] = {
      {R"({"_id": "$k", "n": {"$sum": 1}, "s": {"$sum": "$v"}})",
       R"([{"_id": "a", "n": 2, "s": 4}, {"_id": "b", "n": 1, "s": 2},
           {"_id": null, "n": 2, "s": 9}])"},
      {R"({"_id": null, "all": {"$push": "$k"}})",
       R"([{"_id": null, "all": ["a", "b", "a", null]}])"},
      {R"({"_id": {"x": "$k"}})", R"([{"_id": {"x": "a"}}, {"_id": {"x": "b"}}, {"_id": {}},
                                      {"_id": {"x": null}}])"},
      {R"({"_id": "$k", "f": {"$firstN": {"n": {"$cond": [{"$eq": ["$$ROOT", {}]}, 1, 2]},
                              "input": "$v"}}})",
       R"([{"_id": "a", "f": [1]}, {"_id": "b", "f": [2]}, {"_id": null, "f": [4]}])"},
  };
  for (const auto& test : cases) {
    const GroupSpec spec = Spec(test.spec, context);
    GroupOperator chain(Queue(input), spec, GroupPart::kWhole, context);
    EXPECT_EQ(RunJson(chain), JsonLines(test.output)) << test.spec;
  }
}

TEST(GroupOperator, KeysThatCompareEqualAreOneGroup) {
  const QueryContext context;
  const std::vector<bson::Document> input = Documents(
      R"([{"k": 1}, {"k": 1.0}, {"k": {"$numberLong": "1"}},
          {"k": {"$numberDecimal": "1.0"}}, {"k": "1"}])");
  const GroupSpec spec = Spec(R"({"_id": "$k", "n": {"$count": {}}})", context);
  GroupOperator chain(Queue(input), spec, GroupPart::kWhole, context);
  EXPECT_EQ(RunJson(chain), JsonLines(R"([{"_id": 1, "n": 4}, {"_id": "1", "n": 1}])"));
}

TEST(GroupOperator, HalvesGiveTheWhole) {
  const QueryContext context;
  const GroupSpec spec = Spec(
      R"({"_id": "$k", "s": {"$sum": "$v"}, "a": {"$avg": "$v"},
          "m": {"$max": "$v"}, "p": {"$push": "$v"}})",
      context);
  std::vector<bson::Document> all;
  std::vector<std::vector<bson::Document>> parts(3);
  for (int i = 0; i < 90; ++i) {
    bson::Builder builder;
    builder.Append("k", i % 4).Append("v", i);
    const bson::Document document = builder.Finish();
    all.push_back(document);
    parts[static_cast<size_t>(i / 30)].push_back(document);
  }
  std::vector<bson::Document> partial_rows;
  for (const auto& part : parts) {
    GroupOperator half(Queue(part), spec, GroupPart::kPartial, context);
    absl::StatusOr<std::vector<bson::Document>> rows = RunToEnd(half);
    ASSERT_TRUE(rows.ok());
    for (bson::Document& row : *rows) partial_rows.push_back(std::move(row));
  }
  EXPECT_EQ(partial_rows.size(), 12u);
  GroupOperator whole(Queue(all), spec, GroupPart::kWhole, context);
  GroupOperator merged(Queue(partial_rows), spec, GroupPart::kMerge, context);
  EXPECT_EQ(RunJson(merged), RunJson(whole));
}

TEST(GroupOperator, ErrorsOfArgumentsEndTheQuery) {
  const QueryContext context;
  const std::vector<bson::Document> input = Documents(R"([{"v": 0}])");
  for (const std::string_view json : {R"({"_id": {"$divide": [1, "$v"]}})",
                                      R"({"_id": 1, "x": {"$sum": {"$divide": [1, "$v"]}}})"}) {
    const GroupSpec spec = Spec(json, context);
    GroupOperator chain(Queue(input), spec, GroupPart::kWhole, context);
    EXPECT_EQ(RunJson(chain), "error 4848401") << json;
  }
  const GroupSpec spec = Spec(
      R"({"_id": "$v", "p": {"$push": "$v"}, "y": {"$firstN": {"n": "$v", "input": 1}}})", context);
  GroupOperator chain(Queue(input), spec, GroupPart::kWhole, context);
  EXPECT_EQ(RunJson(chain), "error 5787902") << "a state that could not be made is cleaned up";
}

TEST(GroupOperator, MemoryIsBounded) {
  QueryContext context;
  context.memory = MemoryLimits::All(20'000);
  const GroupSpec by_value = Spec(R"({"_id": "$v", "n": {"$sum": 1}})", context);
  const GroupSpec pushing = Spec(R"({"_id": null, "all": {"$push": "$v"}})", context);
  std::vector<bson::Document> input;
  for (int i = 0; i < 5000; ++i) input.push_back(expr::Wrap(std::to_string(i)));
  for (const GroupSpec* spec : {&by_value, &pushing}) {
    context.allow_disk_use = true;
    GroupOperator may_spill(Queue(input), *spec, GroupPart::kWhole, context);
    EXPECT_EQ(RunJson(may_spill), "error 146");
    context.allow_disk_use = false;
    GroupOperator may_not(Queue(input), *spec, GroupPart::kWhole, context);
    EXPECT_EQ(RunJson(may_not), "error 292");
  }
}

}  // namespace
}  // namespace evenkeel::query
