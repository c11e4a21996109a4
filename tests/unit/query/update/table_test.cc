// The table of update operators as a whole.
#include "query/update/table.h"

#include <gtest/gtest.h>

namespace evenkeel::query::update {
namespace {

TEST(Table, IsSortedAndFindsItsRows) {
  std::string_view before;
  for (const UpdateOp* row : AllOperators()) {
    EXPECT_LT(before, row->name);
    EXPECT_EQ(FindOperator(row->name), row);
    EXPECT_NE(row->parse, nullptr) << row->name;
    before = row->name;
  }
  EXPECT_EQ(FindOperator("$nope"), nullptr);
}

}  // namespace
}  // namespace evenkeel::query::update
