// Tests of the reads that are under way.
#include "shard/command/open_reads.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace evenkeel::shard {
namespace {

constexpr CollectionId kRead{1000}, kOther{1001};

TEST(OpenReads, KnowsOlderOnes) {
  const auto reads = std::make_shared<OpenReads>();
  OpenReads::Read second = reads->Begin(kRead, CatalogVersion{2});
  EXPECT_TRUE(reads->HasOlder(kRead, CatalogVersion{3}));
  EXPECT_FALSE(reads->HasOlder(kRead, CatalogVersion{2}));
  for (const CollectionId other : {kOther, CollectionId{999}}) {
    EXPECT_FALSE(reads->HasOlder(other, CatalogVersion{3}));
  }
  OpenReads::Read first = reads->Begin(kRead, CatalogVersion{1}),
                  again = reads->Begin(kRead, CatalogVersion{1});
  EXPECT_TRUE(reads->HasOlder(kRead, CatalogVersion{2}));
  first = {};
  EXPECT_TRUE(reads->HasOlder(kRead, CatalogVersion{2}));
  again = std::move(second);  // ends the other one of version 1
  EXPECT_FALSE(reads->HasOlder(kRead, CatalogVersion{2}));
  EXPECT_TRUE(reads->HasOlder(kRead, CatalogVersion{3}));
  again = {};
  EXPECT_FALSE(reads->HasOlder(kRead, CatalogVersion{3}));
}

TEST(OpenReads, MayOutliveTheirTable) {
  auto reads = std::make_shared<OpenReads>();
  const OpenReads::Read read = reads->Begin(kRead, CatalogVersion{1});
  reads.reset();
}

}  // namespace
}  // namespace evenkeel::shard
