// The table of find's projection operators.
#include "query/project/table.h"

#include <gtest/gtest.h>

namespace evenkeel::query::project {
namespace {

TEST(Table, FindsRows) {
  for (const char* name : {"$elemMatch", "$meta", "$slice"}) {
    ASSERT_NE(FindOperator(name), nullptr) << name;
    EXPECT_EQ(FindOperator(name)->name, name);
    EXPECT_FALSE(FindOperator(name)->spec.empty());
  }
  EXPECT_EQ(FindOperator("$add"), nullptr);
}

}  // namespace
}  // namespace evenkeel::query::project
