// Tests of the fixed entries of the config database.
#include "catalog/config_collections.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace evenkeel::catalog {
namespace {

TEST(ConfigCollections, IdsNamesAndUuidsAreUnique) {
  std::set<uint64_t> ids, indexes;
  std::set<std::string> names, uuids;
  for (const auto& entry : ConfigCollections()) {
    EXPECT_TRUE(ids.insert(entry->id.value).second) << entry->ns;
    EXPECT_TRUE(names.insert(entry->ns).second) << entry->ns;
    EXPECT_TRUE(uuids.insert(entry->uuid).second) << entry->ns;
    EXPECT_EQ(entry->uuid.size(), 16u) << entry->ns;
    EXPECT_LT(entry->id.value, kFirstUserId) << entry->ns;
    EXPECT_EQ(entry->database(), "config");
    EXPECT_EQ(entry->version, CatalogVersion{1});
    EXPECT_EQ(entry->primary, ShardId{0});
    EXPECT_FALSE(entry->sharded());
    ASSERT_EQ(entry->indexes.size(), 1u) << entry->ns;
    EXPECT_TRUE(entry->indexes[0].IsIdIndex());
    EXPECT_TRUE(indexes.insert(entry->indexes[0].id.value).second) << entry->ns;
    EXPECT_LT(entry->indexes[0].id.value, kFirstUserId);
  }
}

TEST(ConfigCollections, AreFoundByName) {
  ASSERT_NE(FindConfigCollection("config.chunks"), nullptr);
  EXPECT_EQ(FindConfigCollection("config.chunks")->id, kConfigChunks);
  EXPECT_EQ(FindConfigCollection("config.sequences")->id, kConfigSequences);
  for (const char* ns : {"config.other", "db.chunks", "config", "config.", "xconfig.chunks"}) {
    EXPECT_EQ(FindConfigCollection(ns), nullptr) << ns;
  }
}

// Every process must give them the same UUIDs, today and after an upgrade.
TEST(ConfigCollections, UuidsAreFixed) {
  EXPECT_EQ(FindConfigCollection("config.catalog")->uuid, std::string("evenkeel-config\x01", 16));
}

}  // namespace
}  // namespace evenkeel::catalog
