// Tests of catalog entries, index specifications and names.
#include "catalog/collection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/json.h"
#include "base/status.h"

namespace evenkeel::catalog {
namespace {

using storage::Direction;

bson::Document Json(const std::string& text) {
  auto document = bson::FromJson(text);
  EXPECT_TRUE(document.ok()) << text << ": " << document.status();
  return document.ok() ? *std::move(document) : bson::Document();
}

IndexEntry Index(uint64_t id, const std::string& spec) {
  auto index = IndexEntry::FromSpec(IndexId{id}, Json(spec));
  EXPECT_TRUE(index.ok()) << spec << ": " << index.status();
  return *std::move(index);
}

CollectionEntry Unsharded() {
  CollectionEntry entry;
  entry.id = CollectionId{1001};
  entry.version = CatalogVersion{3};
  entry.ns = "db.some.name";
  entry.uuid = std::string("0123456789abcdef");
  entry.options = Json(R"({"comment": "kept as it is"})");
  entry.primary = ShardId{2};
  entry.indexes.push_back(Index(1002, R"({"v": 2, "key": {"_id": 1}, "name": "_id_"})"));
  return entry;
}

TEST(IndexEntry, FieldsAndFlagsOfASpecification) {
  const IndexEntry index = Index(
      7,
      R"({"v": 2, "key": {"a": 1, "b.c": -1, "d": "hashed", "e": -2.5, "f": {"$numberLong": "3"}},
             "name": "n", "unique": true, "sparse": 1})");
  EXPECT_EQ(index.id, IndexId{7});
  EXPECT_EQ(index.name, "n");
  EXPECT_TRUE(index.unique);
  EXPECT_TRUE(index.sparse);
  EXPECT_TRUE(index.ready);
  EXPECT_FALSE(index.IsIdIndex());
  struct Field {
    std::string path;
    Direction direction;
    bool hashed;
  };
  const Field expected[] = {{"a", Direction::kAscending, false},
                            {"b.c", Direction::kDescending, false},
                            {"d", Direction::kAscending, true},
                            {"e", Direction::kDescending, false},
                            {"f", Direction::kAscending, false}};
  ASSERT_EQ(index.fields.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(index.fields[i].path.dotted(), expected[i].path);
    EXPECT_EQ(index.fields[i].direction, expected[i].direction) << expected[i].path;
    EXPECT_EQ(index.fields[i].hashed, expected[i].hashed) << expected[i].path;
  }
}

TEST(IndexEntry, TheIdIndexIsUnique) {
  const IndexEntry index = Index(1, R"({"key": {"_id": 1}, "name": "_id_"})");
  EXPECT_TRUE(index.IsIdIndex());
  EXPECT_TRUE(index.unique);
  EXPECT_FALSE(Index(1, R"({"key": {"a": 1}, "name": "a_1"})").unique);
}

TEST(IndexEntry, BadSpecificationsAreRefused) {
  const std::string cases[] = {
      "{}",
      R"({"key": {"a": 1}})",
      R"({"name": "a_1"})",
      R"({"key": {}, "name": "a_1"})",
      R"({"key": 1, "name": "a_1"})",
      R"({"key": {"a": 1}, "name": ""})",
      R"({"key": {"a": 1}, "name": 5})",
      R"({"key": {"a": "2dsphere"}, "name": "a"})",
      R"({"key": {"a": "text"}, "name": "a"})",
      R"({"key": {"a": true}, "name": "a"})",
  };
  for (const std::string& spec : cases) {
    EXPECT_EQ(CodeOf(IndexEntry::FromSpec(IndexId{1}, Json(spec)).status()),
              ErrorCode::kCannotCreateIndex)
        << spec;
  }
}

// Entries of every form, as their rows.
std::vector<CollectionEntry> EntriesOfEveryForm() {
  std::vector<CollectionEntry> entries = {Unsharded()};
  CollectionEntry sharded = Unsharded();
  sharded.shard_key = *ShardKeyPattern::Parse(Json(R"({"a.b": "hashed", "c": 1})"));
  sharded.shard_key_unique = true;
  sharded.assignment = "default";
  sharded.primary = ShardId{};
  sharded.indexes.push_back(
      Index(1003, R"({"v": 2, "key": {"a": -1}, "name": "a_-1", "unique": true, "sparse": true})"));
  sharded.indexes.back().ready = false;
  entries.push_back(sharded);
  CollectionEntry busy = Unsharded();
  busy.writes_closed = true;
  busy.job = "db.some.name";
  entries.push_back(busy);
  CollectionEntry view = Unsharded();
  view.kind = CollectionKind::kView;
  view.options = Json(R"({"viewOn": "c", "pipeline": [{"$match": {"a": 1}}]})");
  view.indexes.clear();
  entries.push_back(view);
  return entries;
}

TEST(CollectionEntry, SurvivesARoundTrip) {
  for (const CollectionEntry& before : EntriesOfEveryForm()) {
    const bson::Document row = before.ToBson();
    const auto after = CollectionEntry::FromBson(row);
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_EQ(bson::ToCanonicalJson(after->ToBson()), bson::ToCanonicalJson(row));
    EXPECT_EQ(after->id, before.id);
    EXPECT_EQ(after->version, before.version);
    EXPECT_EQ(after->kind, before.kind);
    EXPECT_EQ(after->ns, before.ns);
    EXPECT_EQ(after->uuid, before.uuid);
    EXPECT_EQ(bson::ToJson(after->options), bson::ToJson(before.options));
    EXPECT_EQ(after->sharded(), before.sharded());
    EXPECT_EQ(after->shard_key_unique, before.shard_key_unique);
    EXPECT_EQ(after->assignment, before.assignment);
    EXPECT_EQ(after->primary, before.primary);
    EXPECT_EQ(after->writes_closed, before.writes_closed);
    EXPECT_EQ(after->job, before.job);
    ASSERT_EQ(after->indexes.size(), before.indexes.size());
    for (size_t i = 0; i < before.indexes.size(); ++i) {
      EXPECT_EQ(after->indexes[i].id, before.indexes[i].id);
      EXPECT_EQ(after->indexes[i].name, before.indexes[i].name);
      EXPECT_EQ(after->indexes[i].ready, before.indexes[i].ready);
      EXPECT_EQ(after->indexes[i].unique, before.indexes[i].unique);
      EXPECT_EQ(after->indexes[i].sparse, before.indexes[i].sparse);
    }
  }
}

TEST(CollectionEntry, DamagedRowsAreRefused) {
  const std::string head = R"({"_id": "db.c", "id": {"$numberLong": "5"}, )";
  const std::string cases[] = {
      "{}",
      R"({"_id": "db.c"})",
      R"({"_id": "db.c", "id": 5})",
      R"({"_id": 7, "id": {"$numberLong": "5"}})",
      R"({"_id": "db.c", "id": {"$numberLong": "0"}})",
      head + R"("indexes": [1]})",
      head + R"("indexes": [{"id": {"$numberLong": "6"}}]})",
  };
  for (const std::string& row : cases) {
    EXPECT_EQ(CodeOf(CollectionEntry::FromBson(Json(row)).status()), ErrorCode::kInvalidBSON)
        << row;
  }
  EXPECT_FALSE(CollectionEntry::FromBson(Json(head + R"("key": {"a": 1}})")).ok());
}

TEST(CollectionEntry, NamesAndIndexes) {
  const CollectionEntry entry = Unsharded();
  EXPECT_EQ(entry.database(), "db");
  EXPECT_EQ(entry.name(), "some.name");
  ASSERT_NE(entry.FindIndex("_id_"), nullptr);
  EXPECT_EQ(entry.FindIndex("_id_")->id, IndexId{1002});
  EXPECT_EQ(entry.FindIndex("other"), nullptr);
}

// Without a shard key, and by the shard keys that there are; with a collation of `_id` or none.
TEST(CollectionEntry, PlacesDocuments) {
  struct Case {
    std::string shard_key, collation;
    size_t key_bytes;
    bool keyed_by_id;
  };
  const std::string collation = R"(, "collation": {"locale": "en", "strength": 2})";
  const Case cases[] = {
      {"", "", 0, true},
      {"", collation, 0, true},
      {R"({"_id": "hashed"})", "", 2, true},
      {R"({"_id": "hashed"})", collation, 8, true},
      {R"({"a": "hashed"})", "", 8, false},
      {R"({"a": "hashed"})", collation, 8, false},
      {R"({"_id": "hashed", "a": 1})", "", 9, false},
  };
  const bson::Document document = Json(R"({"_id": "Some id"})");
  for (const Case& c : cases) {
    CollectionEntry entry = Unsharded();
    entry.indexes[0] =
        Index(1002, R"({"v": 2, "key": {"_id": 1}, "name": "_id_")" + c.collation + "}");
    if (!c.shard_key.empty()) entry.shard_key = *ShardKeyPattern::Parse(Json(c.shard_key));
    const Placement place = *entry.PlacementOf(document);
    EXPECT_EQ(place.key.size(), c.key_bytes) << c.shard_key << c.collation;
    EXPECT_EQ(place.hash, entry.sharded() ? *entry.shard_key->HashOf(document) : INT64_MIN);
    EXPECT_EQ(entry.IsKeyedById(), c.keyed_by_id) << c.shard_key;
    if (!c.keyed_by_id) continue;
    EXPECT_EQ(entry.DocKeyOfId(document["_id"]),
              storage::DocKey(entry.id, place.key, document["_id"], entry.id_collation()))
        << c.shard_key << c.collation;
  }
}

TEST(CollectionEntry, PlacesNoArrays) {
  CollectionEntry entry = Unsharded();
  EXPECT_TRUE(entry.PlacementOf(Json(R"({"_id": 1, "a": [1]})")).ok());
  entry.shard_key = *ShardKeyPattern::Parse(Json(R"({"a": "hashed"})"));
  EXPECT_EQ(CodeOf(entry.PlacementOf(Json(R"({"_id": 1, "a": [1]})")).status()),
            ErrorCode::kShardKeyNotFound);
}

// `_id`s that are equal by a collation may have different hashes. No two documents share a key
// then: each lies by its own hash.
TEST(CollectionEntry, EqualKeysHaveEqualHashes) {
  CollectionEntry entry = Unsharded();
  entry.shard_key = *ShardKeyPattern::Parse(Json(R"({"_id": "hashed"})"));
  const auto key_of = [&](const std::string& id) {
    const bson::Document document = Json(R"({"_id": )" + id + "}");
    return entry.DocKeyOfId(document["_id"]);
  };
  for (const char* same : {"2.0", R"({"$numberLong": "2"})", R"({"$numberDecimal": "2.00"})"}) {
    EXPECT_EQ(key_of("2"), key_of(same)) << same;
  }
  EXPECT_NE(key_of("2.1"), key_of("2.9"));
  entry.indexes[0] = Index(1002, R"({"v": 2, "key": {"_id": 1}, "name": "_id_",
                                     "collation": {"locale": "en", "strength": 2}})");
  EXPECT_NE(key_of("\"a\""), key_of("\"A\""));
}

TEST(Names, AreSplitAtTheFirstDot) {
  struct Case {
    std::string ns, database, collection;
  };
  const Case cases[] = {{"db.c", "db", "c"},
                        {"db.c.d", "db", "c.d"},
                        {"db", "db", ""},
                        {"db.", "db", ""},
                        {"", "", ""}};
  for (const Case& c : cases) {
    const Namespace split = SplitNamespace(c.ns);
    EXPECT_EQ(split.database, c.database) << c.ns;
    EXPECT_EQ(split.collection, c.collection) << c.ns;
  }
}

TEST(Names, OfDatabases) {
  const std::string good[] = {"a", "db", "A-b_c+1", "\xc3\xa4", std::string(63, 'x')};
  for (const std::string& name : good) EXPECT_TRUE(CheckDatabaseName(name).ok()) << name;
  const std::string bad[] = {"",
                             "a.b",
                             "a b",
                             "a/b",
                             "a\\b",
                             "a\"b",
                             "$a",
                             "a$",
                             std::string("a\0b", 3),
                             std::string(64, 'x')};
  for (const std::string& name : bad) {
    EXPECT_EQ(CodeOf(CheckDatabaseName(name)), ErrorCode::kInvalidNamespace) << name;
  }
}

TEST(Names, OfCollections) {
  const std::string good[] = {"c",     "c.d", "system.views",           "a b",
                              "a-b/c", "c.",  std::string(255 - 3, 'x')};
  for (const std::string& name : good) EXPECT_TRUE(CheckCollectionName("db", name).ok()) << name;
  const std::string bad[] = {
      "", ".c", "a$b", "$cmd", std::string("a\0b", 3), std::string(256 - 3, 'x')};
  for (const std::string& name : bad) {
    EXPECT_EQ(CodeOf(CheckCollectionName("db", name)), ErrorCode::kInvalidNamespace) << name;
  }
  EXPECT_EQ(CodeOf(CheckCollectionName("a.b", "c")), ErrorCode::kInvalidNamespace);
}

}  // namespace
}  // namespace evenkeel::catalog
