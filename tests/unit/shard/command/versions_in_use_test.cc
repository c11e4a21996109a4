// Tests of what statements use.
#include "shard/command/versions_in_use.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace evenkeel::shard {
namespace {

constexpr CollectionId kUsed{1000}, kOther{1001};

TEST(VersionsInUse, KnowsOlderOnes) {
  const auto table = std::make_shared<VersionsInUse>();
  VersionsInUse::Use second = table->Begin(kUsed, CatalogVersion{2});
  EXPECT_TRUE(table->HasOlder(kUsed, CatalogVersion{3}));
  EXPECT_FALSE(table->HasOlder(kUsed, CatalogVersion{2}));
  for (const CollectionId other : {kOther, CollectionId{999}}) {
    EXPECT_FALSE(table->HasOlder(other, CatalogVersion{3}));
  }
  VersionsInUse::Use first = table->Begin(kUsed, CatalogVersion{1}),
                     again = table->Begin(kUsed, CatalogVersion{1});
  EXPECT_TRUE(table->HasOlder(kUsed, CatalogVersion{2}));
  first = {};
  EXPECT_TRUE(table->HasOlder(kUsed, CatalogVersion{2}));
  again = std::move(second);  // ends the other one of version 1
  EXPECT_FALSE(table->HasOlder(kUsed, CatalogVersion{2}));
  EXPECT_TRUE(table->HasOlder(kUsed, CatalogVersion{3}));
  again = {};
  EXPECT_FALSE(table->HasOlder(kUsed, CatalogVersion{3}));
}

TEST(VersionsInUse, MayOutliveTheirTable) {
  auto table = std::make_shared<VersionsInUse>();
  const VersionsInUse::Use use = table->Begin(kUsed, CatalogVersion{1});
  table.reset();
}

}  // namespace
}  // namespace evenkeel::shard
