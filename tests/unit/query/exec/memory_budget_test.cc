// What one operator and all of them together may hold.
#include "query/exec/memory_budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace evenkeel::query {
namespace {

constexpr size_t kMany = 100u << 20;

TEST(MemoryBudget, OfOneOperator) {
  QueryContext context;
  context.allow_disk_use = false;
  const MemoryBudget budget(context, "$sort", kMany);
  EXPECT_FALSE(budget.Exceeded(kMany));
  EXPECT_TRUE(budget.Exceeded(kMany + 1));
  EXPECT_EQ(CodeOf(budget.Refuse()), ErrorCode::kQueryExceededMemoryLimitNoDiskUseAllowed);
  EXPECT_EQ(MemoryBudget::TotalBytes(), static_cast<int64_t>(kMany)) << "counted in steps";
}

TEST(MemoryBudget, OfAllOperatorsTogether) {
  QueryContext context;
  std::vector<std::unique_ptr<MemoryBudget>> cursors;
  bool exceeded = false;
  while (!exceeded) {
    cursors.push_back(std::make_unique<MemoryBudget>(context, "$sort", kMany));
    exceeded = cursors.back()->Exceeded(kMany);
    ASSERT_LT(cursors.size(), 1000u);
  }
  EXPECT_EQ(cursors.size(), MemoryBudget::kTotalBytesMax / kMany + 1);
  EXPECT_EQ(CodeOf(cursors.back()->Refuse()), ErrorCode::kExceededMemoryLimit);
  cursors.resize(cursors.size() - 2);
  MemoryBudget next(context, "$group", kMany);
  EXPECT_FALSE(next.Exceeded(kMany)) << "closed cursors give back what they held";
  cursors.clear();
  EXPECT_FALSE(next.Exceeded(0));
  EXPECT_EQ(MemoryBudget::TotalBytes(), 0);
}

}  // namespace
}  // namespace evenkeel::query
