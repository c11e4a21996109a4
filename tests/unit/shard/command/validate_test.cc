// Tests of validate: it finds damage that was planted behind the commands' back.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/json.h"
#include "catalog/collection.h"
#include "shard/command/counters.h"
#include "shard/command/index_keys.h"
#include "storage/keys/key_encoding.h"
#include "tests/lib/shard/range_move.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using storage::Table;
using storage::WriteContext;
using tests::Field;
using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kCollection{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})"}};

const catalog::CollectionEntry& Entry() {
  static const auto* const entry =
      new catalog::CollectionEntry(*catalog::CollectionEntry::FromBson(Json(kCollection.Entry())));
  return *entry;
}

DocumentRecords RecordsOf(const std::string& json) {
  return *shard::RecordsOf(Entry(), Json(json));
}

std::string CounterOf(const std::string& json) {
  Collection collection;
  collection.entry = std::make_shared<const catalog::CollectionEntry>(Entry());
  return CounterKey(collection, RecordsOf(json).hash);
}

TEST(Validate, FindsPlantedDamage) {
  const std::string one = R"({"_id": 1, "a": 1})", two = R"({"_id": 2, "a": [1, 2]})";
  struct Case {
    std::string what;
    std::function<void(WriteContext&)> plant;
    std::string says;
  };
  const Case cases[] = {
      {"nothing", [](WriteContext&) {}, ""},
      {"a missing index record",
       [&](WriteContext& c) { c.Remove(Table::kIndex, RecordsOf(two).indexes[1].key); },
       "index 'a_1' lacks a record of _id 2"},
      {"a record of no document",
       [&](WriteContext& c) {
         c.Put(Table::kIndex, RecordsOf(R"({"_id": 9, "a": 9})").indexes[0].key, "x");
       },
       "index 'a_1' has 4 records, its documents stand for 3"},
      {"a record with another value",
       [&](WriteContext& c) { c.Put(Table::kIndex, RecordsOf(one).indexes[0].key, "damaged"); },
       "index 'a_1' lacks a record of _id 1"},
      {"a document that was lost",
       [&](WriteContext& c) { c.Remove(Table::kDocs, RecordsOf(one).doc_key); },
       "the counters say 2 documents"},
      {"a wrong counter of documents",
       [&](WriteContext& c) {
         c.AddToCounter(CounterOf(one), {1, 0});
       },
       "the counters say 3 documents"},
      {"a wrong counter of bytes",
       [&](WriteContext& c) {
         c.AddToCounter(CounterOf(one), {0, -1});
       },
       "the counters say 2"},
      {"a wrong counter of an index",
       [&](WriteContext& c) {
         c.AddToCounter(IndexCounterKey(IndexId{kCollection.index_id(1)}), {1, 0});
       },
       "the counters of index 'a_1' say 4 records"},
      {"a document under the key of another one",
       [&](WriteContext& c) {
         c.Put(Table::kDocs, RecordsOf(one).doc_key, Json(R"({"_id": 3, "a": 1})").bytes());
       },
       "under the key of another one"},
      {"a document that is no BSON",
       [&](WriteContext& c) {
         std::string bytes = Json(one).bytes();
         bytes[4] = 0x55;
         c.Put(Table::kDocs, RecordsOf(one).doc_key, bytes);
       },
       "damaged document"},
  };
  for (const Case& c : cases) {
    for (const bool checkpointed : {false, true}) {
      ShardFixture shard;
      shard.Put(kCollection);
      shard.Insert(kCollection, {one, two});
      shard.Write(c.plant);
      if (checkpointed) {
        ASSERT_TRUE(shard.store().Checkpoint().ok());
      }
      const std::string errors = shard.Validate(kCollection);
      if (c.says.empty()) {
        EXPECT_EQ(errors, "") << c.what;
      } else {
        EXPECT_NE(errors.find(c.says), std::string::npos) << c.what << ": " << errors;
      }
    }
  }
}

// One shard has got documents of two ranges, by a move that goes on, was given up, or is done; the
// other one has given some.
TEST(Validate, FindsWrongCountersOfMoves) {
  enum Phase { kMoving, kGivenUp, kDone };
  const CollectionId id{1000};
  const std::string owned = OwnedCounterKey(id), orphaned = OrphanedCounterKey(id);
  const std::string low = ArrivingCounterKey(id, INT64_MIN), high = ArrivingCounterKey(id, 100);
  using Changes = std::vector<std::pair<std::string, storage::Count>>;
  struct Case {
    Phase phase;
    uint32_t shard;
    Changes plant;
    std::string says;  // behind "the counters say <n> documents"
  };
  const Case cases[] = {
      {kMoving, 1, {}, ""},
      {kMoving, 1, {{low, {1, 0}}}, " of other shards"},
      {kMoving, 1, {{high, {0, -1}}}, " of other shards"},
      {kMoving, 1, {{low, {1, 40}}, {high, {-1, -40}}}, " of other shards"},
      {kMoving, 1, {{low, {-1, -40}}, {orphaned, {1, 40}}}, " of other shards"},
      {kMoving, 1, {{low, {-1, -40}}, {owned, {1, 40}}}, " of "},
      {kMoving, 1, {{owned, {0, 7}}}, " of "},
      {kMoving, 0, {{owned, {-1, 0}}}, " of "},
      {kGivenUp, 1, {}, ""},
      {kGivenUp, 1, {{orphaned, {1, 0}}}, " of other shards"},
      {kGivenUp, 1, {{orphaned, {0, 1}}}, " of other shards"},
      {kGivenUp, 1, {{orphaned, {-1, -40}}, {owned, {1, 40}}}, " of other shards"},
      {kDone, 0, {}, ""},
      {kDone, 0, {{orphaned, {-1, 0}}}, " of other shards"},
      {kDone, 0, {{owned, {1, 0}}}, " of "},
      {kDone, 1, {{orphaned, {1, 1}}}, " of other shards"},
      {kDone, 1, {{owned, {0, -1}}}, " of "},
  };
  for (const Case& c : cases) {
    tests::RangeMove move({.before = {{INT64_MIN, ShardId{0}}, {0, ShardId{1}}, {100, ShardId{0}}},
                           .after = {{INT64_MIN, ShardId{0}}, {INT64_MIN / 2, ShardId{1}}}});
    for (int32_t n = 0; n < 60; ++n) move.Insert(n);
    move.Begin();
    move.Copy();
    if (c.phase == kGivenUp) move.GiveUp();
    if (c.phase == kDone) {
      ASSERT_EQ(move.NoteLeaving(), 0);
      move.Switch();
    }
    tests::ShardFixture& shard = move.shard(c.shard);
    shard.Write([&](WriteContext& context) {
      for (const auto& [key, count] : c.plant) context.AddToCounter(key, count);
    });
    const std::string errors = shard.Validate(move.now());
    const std::string what = std::to_string(c.phase) + " " + std::to_string(&c - cases);
    EXPECT_EQ(errors.empty(), c.says.empty()) << what << ": " << errors;
    EXPECT_NE(errors.find(c.says.empty() ? "" : " documents" + c.says), std::string::npos)
        << what << ": " << errors;
  }
}

TEST(Validate, CountsDocumentsAndKeys) {
  ShardFixture shard;
  shard.Put(kCollection);
  shard.Insert(kCollection, {R"({"_id": 1, "a": [1, 2, 3]})", R"({"_id": 2})"});
  const bson::Document reply = shard.Run(kCollection.Command("validate", ""));
  EXPECT_EQ(Field(reply, "nrecords"), "2");
  EXPECT_EQ(Field(reply, "nIndexes"), "2");
  EXPECT_EQ(Field(reply, "keysPerIndex"), R"({"_id_":2,"a_1":4})");
  EXPECT_EQ(Field(reply, "valid"), "true");
  EXPECT_EQ(Field(reply, "warnings"), "[]");
}

TEST(Validate, GoesOnBesideWritesAndOverManySlices) {
  ShardFixture shard;
  shard.Put(kCollection);
  std::vector<std::string> documents;
  for (int i = 0; i < 3000; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i) + "}");
  }
  shard.Insert(kCollection, documents);
  std::vector<std::future<bson::Document>> validations, writes;
  for (int i = 0; i < 5; ++i) {
    validations.push_back(shard.Start(kCollection.Command("validate", "")));
    for (int j = 0; j < 20; ++j) {
      const std::string id = std::to_string((i * 731 + j * 97) % 3000);
      writes.push_back(shard.Start(kCollection.Command(
          "update", R"("updates": [{"q": {"_id": )" + id + R"(}, "u": {"$inc": {"a": 1}}}])")));
      writes.push_back(shard.Start(kCollection.Command(
          "delete", R"("deletes": [{"q": {"_id": )" + id + R"(}, "limit": 1}])")));
    }
  }
  for (auto& write : writes) EXPECT_TRUE(write.get()["code"].missing());
  for (auto& validation : validations) {
    const bson::Document reply = validation.get();
    EXPECT_EQ(Field(reply, "valid"), "true") << bson::ToJson(reply);
  }
}

TEST(Validate, OldVersions) {
  ShardFixture shard;
  TestCollection collection = kCollection;
  shard.Put(collection);
  collection.version = 2;
  EXPECT_EQ(shard.Validate(collection), "error 13388");
}

}  // namespace
}  // namespace evenkeel::shard
