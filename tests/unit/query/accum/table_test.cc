// The joined table of accumulators and the parsing of $group's.
#include "query/accum/table.h"

#include <gtest/gtest.h>

#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::accum {
namespace {

TEST(AccumTable, IsSortedAndFindsEveryRow) {
  std::string_view last;
  for (const AccumOp* row : AllAccumulators()) {
    EXPECT_LT(last, row->name);
    last = row->name;
    EXPECT_EQ(FindAccumulator(row->name), row);
    EXPECT_EQ(row->init != nullptr, row->parse != nullptr) << row->name << " is whole or empty";
  }
  EXPECT_EQ(FindAccumulator("$nothing"), nullptr);
  for (const std::string_view name : {"$top", "$median", "$covariancePop", "$accumulator"}) {
    EXPECT_NE(FindAccumulator(name), nullptr) << name;
  }
}

TEST(AccumTable, Parsing) {
  const struct {
    std::string_view name, args;
    int code;
  } cases[] = {
      {"$sum", "\"$a\"", 0},
      {"$sum", "[1]", 40237},
      {"$add", "1", 15952},
      {"$add", "[1, 2]", 40237},
      {"$rank", "{}", 15952},
      {"$median", "{}", 40414},
      {"$count", "{}", 0},
      {"$count", "1", 14},
      {"$sum", "\"$\"", 16872},
      {"$firstN", "1", 5787801},
      {"$firstN", R"({"n": 1, "x": 2})", 5787901},
      {"$firstN", R"({"input": 1})", 5787906},
      {"$firstN", R"({"n": 1})", 5787907},
      {"$maxN", R"({"n": 1, "input": "$a"})", 0},
  };
  const QueryContext context;
  for (const auto& test : cases) {
    ParseScope scope(context);
    const bson::Document args = expr::Wrap(test.args);
    const absl::Status status = ParseGroupAccumulator(test.name, args["v"], scope).status();
    EXPECT_EQ(static_cast<int>(CodeOf(status)), test.code) << test.name << test.args << status;
  }
}

}  // namespace
}  // namespace evenkeel::query::accum
