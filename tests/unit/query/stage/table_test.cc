// The joined table of stages and its facts.
#include "query/stage/table.h"

#include <gtest/gtest.h>

namespace evenkeel::query::stage {
namespace {

TEST(StageTable, IsSortedAndFindsEveryRow) {
  std::string_view last;
  for (const StageOp* row : AllStages()) {
    EXPECT_LT(last, row->name);
    last = row->name;
    EXPECT_EQ(FindStage(row->name), row);
    EXPECT_EQ(row->internal, row->name.starts_with("$_")) << row->name;
  }
  EXPECT_EQ(FindStage("$nothing"), nullptr);
}

TEST(StageTable, Facts) {
  for (const StageOp* row : AllStages()) {
    // What the router must not give to every shard as it is. Stages that it runs itself stay there,
    // but for collections that lie on one shard (query/stage/colocation.h).
    if (row->order == Order::kBreaks && !row->internal && row->parse != nullptr &&
        row->where != Where::kRouter) {
      EXPECT_NE(row->split, Split::kEachShard) << row->name;
    }
    if (row->writes) {
      EXPECT_TRUE(row->last_only) << row->name;
    }
  }
  EXPECT_TRUE(FindStage("$documents")->first_only);
  EXPECT_EQ(FindStage("$shardedDataDistribution")->where, Where::kRouter);
  EXPECT_FALSE(FindStage("$group")->bounded_memory);
  EXPECT_TRUE(FindStage("$match")->bounded_memory);
  for (const std::string_view name :
       {"$bucket", "$facet", "$lookup", "$merge", "$out", "$setWindowFields", "$unionWith"}) {
    const StageOp* row = FindStage(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_NE(row->parse, nullptr) << name;
  }
}

}  // namespace
}  // namespace evenkeel::query::stage
