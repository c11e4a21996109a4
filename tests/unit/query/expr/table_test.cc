// The joined table of operators.
#include "query/expr/table.h"

#include <gtest/gtest.h>

namespace evenkeel::query::expr {
namespace {

TEST(ExprTable, IsSortedAndFindsEveryRow) {
  std::string_view last;
  for (const ExprOp* row : AllOperators()) {
    EXPECT_LT(last, row->name);
    last = row->name;
    EXPECT_EQ(FindOperator(row->name), row);
    EXPECT_FALSE(row->spec.empty()) << row->name;
  }
  EXPECT_EQ(FindOperator("$nothing"), nullptr);
  EXPECT_EQ(FindOperator(""), nullptr);
}

TEST(ExprTable, KnowsAllOfMongoDb) {
  constexpr std::string_view kSome[] = {"$abs",       "$convert",
                                        "$dateTrunc", "$encStrContains",
                                        "$function",  "$getField",
                                        "$hexHash",   "$isoWeek",
                                        "$meta",      "$percentile",
                                        "$rand",      "$regexMatch",
                                        "$sortArray", "$toHashedIndexKey",
                                        "$tsSecond",  "$unsetField",
                                        "$zip",       "$year"};
  for (const std::string_view name : kSome) EXPECT_NE(FindOperator(name), nullptr) << name;
  EXPECT_GE(AllOperators().size(), 165u);
}

}  // namespace
}  // namespace evenkeel::query::expr
