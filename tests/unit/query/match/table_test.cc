// The table of match operators as a whole.
#include "query/match/table.h"

#include <gtest/gtest.h>

namespace evenkeel::query::match {
namespace {

TEST(Table, IsSortedAndFindsItsRows) {
  std::string_view before;
  for (const MatchOp* row : AllOperators()) {
    EXPECT_LT(before, row->name);
    EXPECT_EQ(FindOperator(row->name), row);
    EXPECT_FALSE(row->spec.empty()) << row->name;
    before = row->name;
  }
  EXPECT_EQ(FindOperator("$nope"), nullptr);
  EXPECT_EQ(FindOperator(""), nullptr);
}

TEST(Table, RowsParseWhereTheyStand) {
  for (const MatchOp* row : AllOperators()) {
    EXPECT_TRUE(row->place == Place::kTop || row->parse_top == nullptr) << row->name;
  }
}

}  // namespace
}  // namespace evenkeel::query::match
