// Tests of what a shard knows of the catalog: loaded from its rows, changed by copies.
#include "catalog/shard_catalog.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "tests/lib/store_harness.h"

namespace evenkeel::catalog {
namespace {

using storage::Table;
using tests::StoreHarness;

const std::string kClusterId = "twelve bytes";

CollectionEntry MakeEntry(uint64_t id, const std::string& ns, uint64_t version = 1) {
  CollectionEntry entry;
  entry.id = CollectionId{id};
  entry.version = CatalogVersion{version};
  entry.ns = ns;
  entry.uuid = std::string(16, 'u');
  auto spec = bson::FromJson(R"({"v": 2, "key": {"_id": 1}, "name": "_id_"})");
  entry.indexes.push_back(*IndexEntry::FromSpec(IndexId{id + 1}, *spec));
  return entry;
}

std::string IdentityRow(int32_t shard) {
  bson::Builder row;
  row.AppendObjectId("clusterId", kClusterId).Append("shard", shard);
  return row.Finish().bytes();
}

std::shared_ptr<const ShardCatalog> Load(StoreHarness& harness) {
  auto catalog = ShardCatalog::Load(harness.store->Read());
  EXPECT_TRUE(catalog.ok()) << catalog.status();
  return catalog.ok() ? *catalog : nullptr;
}

TEST(ShardCatalog, OfAnEmptyStoreIsEmpty) {
  StoreHarness harness;
  harness.Open();
  const auto catalog = Load(harness);
  EXPECT_EQ(catalog->cluster_id(), "");
  EXPECT_TRUE(catalog->collections().empty());
  EXPECT_EQ(catalog->FindAssignment("default"), nullptr);
  EXPECT_FALSE(catalog->IsMultikey(IndexId{5}));
}

TEST(ShardCatalog, LoadsEveryKindOfRow) {
  StoreHarness harness;
  harness.Open();
  const Assignment assignment = Assignment::Equal("default", 3);
  harness.Put(std::string(kMetaIdentityKey), IdentityRow(2), Table::kMeta);
  harness.Put(MetaAssignmentKey("default"), assignment.ToBson().bytes(), Table::kMeta);
  // Ids whose bytes order differently when read the wrong way round.
  for (const uint64_t id : {uint64_t{1000}, uint64_t{256}, uint64_t{1} << 40}) {
    harness.Put(MetaCollectionKey(CollectionId{id}),
                MakeEntry(id, "db.c" + std::to_string(id), id + 7).ToBson().bytes(), Table::kMeta);
    harness.Put(MetaMultikeyKey(IndexId{id}), "1", Table::kMeta);
    harness.Put(MetaLongKeysKey(IndexId{id + 2}), "1", Table::kMeta);
    harness.Put(MetaDroppedKey(CollectionId{id + 3}), "1", Table::kMeta);
  }
  const auto check = [&] {
    const auto catalog = Load(harness);
    EXPECT_EQ(catalog->cluster_id(), kClusterId);
    EXPECT_EQ(catalog->shard(), ShardId{2});
    EXPECT_EQ(catalog->collections().size(), 3u);
    ASSERT_NE(catalog->FindAssignment("default"), nullptr);
    EXPECT_EQ(catalog->FindAssignment("default")->ranges().size(), 3u);
    for (const uint64_t id : {uint64_t{1000}, uint64_t{256}, uint64_t{1} << 40}) {
      const auto entry = catalog->Find(CollectionId{id});
      ASSERT_NE(entry, nullptr) << id;
      EXPECT_EQ(entry->ns, "db.c" + std::to_string(id));
      EXPECT_EQ(entry->version, CatalogVersion{id + 7});
      EXPECT_TRUE(catalog->IsMultikey(IndexId{id}));
      EXPECT_FALSE(catalog->IsMultikey(IndexId{id + 2}));
      EXPECT_TRUE(catalog->HasLongKeys(IndexId{id + 2}));
      EXPECT_FALSE(catalog->HasLongKeys(IndexId{id}));
      EXPECT_EQ(catalog->Find(CollectionId{id + 3}), nullptr);
    }
    EXPECT_EQ(catalog->Find(CollectionId{1001}), nullptr);
  };
  check();
  harness.Restart();
  check();
}

TEST(ShardCatalog, OnlyShard0KnowsTheConfigCollections) {
  for (const int32_t shard : {0, 1}) {
    StoreHarness harness;
    harness.Open();
    harness.Put(std::string(kMetaIdentityKey), IdentityRow(shard), Table::kMeta);
    const auto loaded = Load(harness);
    const auto given = ShardCatalog().WithIdentity(kClusterId, ShardId{uint32_t(shard)});
    for (const auto& entry : ConfigCollections()) {
      EXPECT_EQ(loaded->Find(entry->id) != nullptr, shard == 0) << entry->ns;
      EXPECT_EQ(given->Find(entry->id) != nullptr, shard == 0) << entry->ns;
    }
  }
}

TEST(ShardCatalog, DamagedRowsAreRefused) {
  struct Case {
    std::string key;
    std::string json;
  };
  const Case cases[] = {
      {MetaCollectionKey(CollectionId{1000}), R"({"_id": "db.c"})"},
      {MetaAssignmentKey("default"), R"({"_id": "default"})"},
      {std::string(kMetaIdentityKey), R"({"shard": 1})"},
      {std::string(kMetaIdentityKey), R"({"clusterId": {"$oid": "000000000000000000000000"}})"},
  };
  for (const Case& c : cases) {
    StoreHarness harness;
    harness.Open();
    harness.Put(c.key, bson::FromJson(c.json)->bytes(), Table::kMeta);
    EXPECT_EQ(CodeOf(ShardCatalog::Load(harness.store->Read()).status()), ErrorCode::kInvalidBSON)
        << c.json;
  }
}

TEST(ShardCatalog, ChangesMakeCopies) {
  const ShardCatalog before;
  const auto with = before.With(std::make_shared<const CollectionEntry>(MakeEntry(1000, "db.a")));
  EXPECT_EQ(before.Find(CollectionId{1000}), nullptr);
  ASSERT_NE(with->Find(CollectionId{1000}), nullptr);
  const auto newer =
      with->With(std::make_shared<const CollectionEntry>(MakeEntry(1000, "db.a", 2)));
  EXPECT_EQ(with->Find(CollectionId{1000})->version, CatalogVersion{1});
  EXPECT_EQ(newer->Find(CollectionId{1000})->version, CatalogVersion{2});
  EXPECT_EQ(newer->Without(CollectionId{1000})->Find(CollectionId{1000}), nullptr);
  EXPECT_NE(newer->Find(CollectionId{1000}), nullptr);

  const auto multikey = newer->WithMultikey(IndexId{9});
  EXPECT_TRUE(multikey->IsMultikey(IndexId{9}));
  EXPECT_FALSE(newer->IsMultikey(IndexId{9}));
  const auto ranges =
      multikey->With(std::make_shared<const Assignment>(Assignment::Equal("mine", 2)));
  EXPECT_NE(ranges->FindAssignment("mine"), nullptr);
  EXPECT_TRUE(ranges->IsMultikey(IndexId{9}));
  EXPECT_NE(ranges->Find(CollectionId{1000}), nullptr);
}

TEST(ShardCatalog, WhatIsDroppedTakesItsFlagsAlong) {
  const auto catalog = ShardCatalog()
                           .With(std::make_shared<const CollectionEntry>(MakeEntry(1000, "db.a")))
                           ->WithMultikey(IndexId{1001})
                           ->WithLongKeys(IndexId{1001})
                           ->WithMultikey(IndexId{9})
                           ->WithLongKeys(IndexId{9});
  const auto without_collection = catalog->Without(CollectionId{1000});
  EXPECT_FALSE(without_collection->IsMultikey(IndexId{1001}));
  EXPECT_FALSE(without_collection->HasLongKeys(IndexId{1001}));
  EXPECT_TRUE(without_collection->IsMultikey(IndexId{9}));
  const auto without_index = catalog->WithoutIndex(IndexId{9});
  EXPECT_FALSE(without_index->IsMultikey(IndexId{9}));
  EXPECT_FALSE(without_index->HasLongKeys(IndexId{9}));
  EXPECT_TRUE(without_index->IsMultikey(IndexId{1001}));
}

}  // namespace
}  // namespace evenkeel::catalog
