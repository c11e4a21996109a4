// Aliases and numbers of types.
#include "query/match/type_names.h"

#include <gtest/gtest.h>

namespace evenkeel::query {
namespace {

using bson::Type;

TEST(TypeNames, AliasesGoBothWays) {
  for (int number = -1; number < 256; ++number) {
    const std::optional<Type> type = TypeFromNumber(number);
    if (!type) continue;
    EXPECT_EQ(TypeFromAlias(TypeAlias(*type)), type) << number;
  }
  EXPECT_EQ(TypeAlias(Type::kEod), "missing");
  EXPECT_EQ(TypeFromAlias("number"), std::nullopt);
  EXPECT_EQ(TypeFromNumber(0), std::nullopt);
  EXPECT_EQ(TypeFromNumber(255), std::nullopt);
  EXPECT_EQ(TypeFromNumber(-1), Type::kMinKey);
}

TEST(TypeNames, SetsHoldTypes) {
  TypeSet set;
  EXPECT_TRUE(set.empty());
  set.AddNumbers();
  set.Add(Type::kMinKey);
  EXPECT_TRUE(set.Contains(Type::kDecimal128));
  EXPECT_TRUE(set.Contains(Type::kMinKey));
  EXPECT_FALSE(set.Contains(Type::kMaxKey));
}

}  // namespace
}  // namespace evenkeel::query
