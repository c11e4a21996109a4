// Tests of what statements use.
#include "shard/command/versions_in_use.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace evenkeel::shard {
namespace {

constexpr CollectionId kUsed{1000}, kOther{1001};

catalog::CollectionEntry Entry(CollectionId id, uint64_t version,
                               std::string assignment = "default") {
  catalog::CollectionEntry entry;
  entry.id = id;
  entry.version = CatalogVersion{version};
  entry.assignment = std::move(assignment);
  return entry;
}

TEST(VersionsInUse, KnowsOlderOnes) {
  const auto table = std::make_shared<VersionsInUse>();
  VersionsInUse::Use second = table->Begin(Entry(kUsed, 2));
  EXPECT_TRUE(table->HasOlder(kUsed, CatalogVersion{3}));
  EXPECT_FALSE(table->HasOlder(kUsed, CatalogVersion{2}));
  for (const CollectionId other : {kOther, CollectionId{999}}) {
    EXPECT_FALSE(table->HasOlder(other, CatalogVersion{3}));
  }
  VersionsInUse::Use first = table->Begin(Entry(kUsed, 1)), again = table->Begin(Entry(kUsed, 1));
  EXPECT_TRUE(table->HasOlder(kUsed, CatalogVersion{2}));
  first = {};
  EXPECT_TRUE(table->HasOlder(kUsed, CatalogVersion{2}));
  again = std::move(second);  // ends the other one of version 1
  EXPECT_FALSE(table->HasOlder(kUsed, CatalogVersion{2}));
  EXPECT_TRUE(table->HasOlder(kUsed, CatalogVersion{3}));
  again = {};
  EXPECT_FALSE(table->HasOlder(kUsed, CatalogVersion{3}));
}

TEST(VersionsInUse, KnowsThoseWithOtherRanges) {
  const auto table = std::make_shared<VersionsInUse>();
  const VersionsInUse::Use one = table->Begin(Entry(kUsed, 1)), two = table->Begin(Entry(kUsed, 2)),
                           other = table->Begin(Entry(kOther, 7, "default.7"));
  EXPECT_FALSE(table->HasOthers(kUsed, "default"));
  EXPECT_TRUE(table->HasOthers(kUsed, "default.2"));
  const VersionsInUse::Use three = table->Begin(Entry(kUsed, 3, "default.2"));
  EXPECT_TRUE(table->HasOthers(kUsed, "default"));
  EXPECT_TRUE(table->HasOthers(kUsed, "default.2"));
  EXPECT_FALSE(table->HasOthers(CollectionId{999}, "default"));
}

TEST(VersionsInUse, MayOutliveTheirTable) {
  auto table = std::make_shared<VersionsInUse>();
  const VersionsInUse::Use use = table->Begin(Entry(kUsed, 1));
  table.reset();
}

}  // namespace
}  // namespace evenkeel::shard
