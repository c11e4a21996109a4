// What checkMetadataConsistency finds: each test breaks one thing of a clean cluster.
#include "router/local/metadata_check.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bson/json.h"

namespace evenkeel::router::local {
namespace {

using catalog::CollectionEntry;

const std::string kUuid(16, 'u');

CollectionEntry Sharded() {
  CollectionEntry entry;
  entry.id = CollectionId{1000};
  entry.ns = "db.s";
  entry.uuid = kUuid;
  const bson::Document key = *bson::FromJson(R"({"a": "hashed"})");
  entry.shard_key = *catalog::ShardKeyPattern::Parse(key);
  entry.assignment = "default";
  for (const char* spec : {R"({"v": 2, "key": {"_id": 1}, "name": "_id_"})",
                           R"({"v": 2, "key": {"a": "hashed"}, "name": "a_hashed"})"}) {
    const bson::Document parsed = *bson::FromJson(spec);
    entry.indexes.push_back(
        *catalog::IndexEntry::FromSpec(IndexId{1001 + entry.indexes.size()}, parsed));
  }
  return entry;
}

CollectionEntry Unsharded() {
  CollectionEntry entry = Sharded();
  entry.id = CollectionId{1010};
  entry.ns = "db.u";
  entry.uuid = std::string(16, 'v');
  entry.shard_key.reset();
  entry.assignment.clear();
  entry.primary = ShardId{1};
  return entry;
}

bson::Document CollectionsRow(const CollectionEntry& entry) {
  bson::Builder row;
  row.Append("_id", entry.ns).AppendBinary("uuid", 4, entry.uuid);
  return row.Append("key", entry.shard_key->pattern()).Finish();
}

// A chunk of db.s; nothing is MinKey or MaxKey.
bson::Document Chunk(std::optional<int64_t> min, std::optional<int64_t> max, uint32_t shard,
                     std::string_view field = "a") {
  bson::Builder chunk;
  chunk.AppendBinary("uuid", 4, kUuid).OpenDocument("min");
  min ? chunk.Append(field, *min) : chunk.AppendMinKey(field);
  chunk.Close().OpenDocument("max");
  max ? chunk.Append(field, *max) : chunk.AppendMaxKey(field);
  chunk.Close().Append("shard", "shard" + std::to_string(shard));
  return chunk.Finish();
}

class MetadataCheckTest : public testing::Test {
 protected:
  MetadataCheckTest() {
    const auto assignment = catalog::Assignment::Equal("default", 2);
    snapshot_.catalog = {Sharded(), Unsharded()};
    snapshot_.collections.emplace("db.s", CollectionsRow(Sharded()));
    snapshot_.databases.insert("db");
    snapshot_.chunks.push_back(Chunk(std::nullopt, 0, 0));
    snapshot_.chunks.push_back(Chunk(0, std::nullopt, 1));
    snapshot_.assignments.emplace("default", assignment);
    for (uint32_t shard = 0; shard < 2; ++shard) {
      ShardRows& rows = snapshot_.shards[shard];
      rows.collections.emplace(1000, Sharded());
      rows.assignments.push_back(assignment.ToBson());
    }
    snapshot_.shards[1].collections.emplace(1010, Unsharded());
  }

  // The types found, separated by blanks.
  std::string Types(std::string_view only = "") {
    Inconsistencies found([only](std::string_view ns) { return only.empty() || ns == only; });
    CheckMetadata(snapshot_, &found);
    std::string types;
    for (const bson::Document& row : found.found()) {
      EXPECT_TRUE(row["description"].Is(bson::Type::kString));
      EXPECT_TRUE(row["details"].AsDocument()["namespace"].Is(bson::Type::kString));
      types += (types.empty() ? "" : " ") + std::string(row["type"].AsString());
    }
    return types;
  }
  CollectionEntry& Local(uint32_t shard, uint64_t id) {
    return snapshot_.shards[shard].collections.at(id);
  }
  bson::Document SetField(const bson::Document& row, std::string_view name, bson::View value) {
    bson::Builder out;
    for (const auto& [field, old] : row.view()) {
      if (field != name) out.Append(field, old);
    }
    return out.Append(name, value).Finish();
  }

  MetadataSnapshot snapshot_;
};

TEST_F(MetadataCheckTest, ACleanCluster) { EXPECT_EQ(Types(), ""); }

TEST_F(MetadataCheckTest, WhatJobsChangeIsLeftOut) {
  Local(0, 1000).version = CatalogVersion{9};
  EXPECT_EQ(Types(), "CollectionVersionMismatch");
  EXPECT_EQ(Types("db.s"), "CollectionVersionMismatch");
  EXPECT_EQ(Types("db.u"), "");
  snapshot_.busy.insert("db.s");
  EXPECT_EQ(Types(), "");
  snapshot_.busy = {"db"};
  EXPECT_EQ(Types(), "");
}

TEST_F(MetadataCheckTest, RowsOfShards) {
  struct Case {
    std::string_view name, wanted;
    std::function<void()> plant;
  };
  const Case cases[] = {
      {"uuid", "CollectionUUIDMismatch", [this] { Local(1, 1000).uuid[0] = 'x'; }},
      {"options", "CollectionOptionsMismatch",
       [this] { Local(1, 1010).options = *bson::FromJson(R"({"capped": true})"); }},
      {"index", "InconsistentIndex", [this] { Local(0, 1000).indexes.pop_back(); }},
      {"unsharded", "ShardThinksCollectionIsUnsharded",
       [this] { Local(0, 1000).shard_key.reset(); }},
      {"missing", "MissingLocalCollection", [this] { snapshot_.shards[0].collections.clear(); }},
      {"misplaced", "MisplacedCollection",
       [this] { snapshot_.shards[0].collections.emplace(1010, Unsharded()); }},
      {"unknown", "UnknownCollection",
       [this] { snapshot_.shards[0].collections.emplace(1020, Unsharded()); }},
      {"ranges", "AssignmentMismatch",
       [this] {
         snapshot_.shards[1].assignments[0] = catalog::Assignment::Equal("default", 3).ToBson();
       }},
  };
  const MetadataSnapshot clean = snapshot_;
  for (const Case& c : cases) {
    snapshot_ = clean;
    c.plant();
    EXPECT_EQ(Types(), c.wanted) << c.name;
  }
}

TEST_F(MetadataCheckTest, RowsOfConfig) {
  struct Case {
    std::string_view name, wanted;
    std::function<void()> plant;
  };
  const bson::Document row = CollectionsRow(Sharded());
  const bson::Document other_key = *bson::FromJson(R"({"b": "hashed"})");
  const Case cases[] = {
      {"no row", "MissingCollectionMetadata", [this] { snapshot_.collections.clear(); }},
      {"key", "CollectionMetadataMismatch",
       [&] { snapshot_.collections.at("db.s") = SetField(row, "key", other_key); }},
      {"of an unsharded one", "CollectionMetadataMismatch",
       [&] { snapshot_.collections.emplace("db.u", row); }},
      {"of none", "MissingLocalCollection", [&] { snapshot_.collections.emplace("db.none", row); }},
      {"database", "HiddenShardedCollection HiddenUnshardedCollection",
       [this] { snapshot_.databases.clear(); }},
      {"assignment", "MissingAssignment AssignmentMismatch AssignmentMismatch",
       [this] { snapshot_.assignments.clear(); }},
      {"no index on the shard key", "MissingShardKeyIndex InconsistentIndex InconsistentIndex",
       [this] { snapshot_.catalog[0].indexes.pop_back(); }},
  };
  const MetadataSnapshot clean = snapshot_;
  for (const Case& c : cases) {
    snapshot_ = clean;
    c.plant();
    EXPECT_EQ(Types(), c.wanted) << c.name;
  }
}

TEST_F(MetadataCheckTest, RoutingTables) {
  struct Case {
    std::string_view name, wanted;
    std::vector<bson::Document> chunks;
  };
  const auto none = std::nullopt;
  const Case cases[] = {
      {"none", "MissingRoutingTable", {}},
      {"begin", "RoutingTableMissingMinKey", {Chunk(-5, 0, 0), Chunk(0, none, 1)}},
      {"end", "RoutingTableMissingMaxKey", {Chunk(none, 0, 0), Chunk(0, 5, 1)}},
      {"gap", "RoutingTableRangeGap", {Chunk(0, none, 1), Chunk(none, -5, 0)}},
      {"overlap", "RoutingTableRangeOverlap", {Chunk(none, 5, 0), Chunk(0, none, 1)}},
      {"owner", "ChunkOwnerMismatch", {Chunk(none, 0, 1), Chunk(0, none, 1)}},
      {"shard", "ChunkOnUnknownShard ChunkOwnerMismatch", {Chunk(none, 0, 0), Chunk(0, none, 7)}},
      {"key", "CorruptedChunkShardKey", {Chunk(none, 0, 0, "b"), Chunk(0, none, 1)}},
  };
  for (const Case& c : cases) {
    snapshot_.chunks = c.chunks;
    EXPECT_EQ(Types(), c.wanted) << c.name;
  }
}

TEST_F(MetadataCheckTest, ChunksOfNoCollection) {
  bson::Builder chunk;
  for (const auto& [name, value] : snapshot_.chunks[0].view()) {
    if (name != "uuid") chunk.Append(name, value);
  }
  snapshot_.chunks.push_back(chunk.AppendBinary("uuid", 4, std::string(16, 'z')).Finish());
  EXPECT_EQ(Types(), "UnknownChunks");
  EXPECT_EQ(Types("db.s"), "");
}

}  // namespace
}  // namespace evenkeel::router::local
