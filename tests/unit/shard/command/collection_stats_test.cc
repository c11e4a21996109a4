// Tests of the figures about a collection and about the engine.
#include "shard/command/collection_stats.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kCollection{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})"}};

TEST(CollStats, FollowsEveryChange) {
  ShardFixture shard;
  shard.Put(kCollection);
  const auto stats = [&] { return shard.Run(kCollection.Command("_collStats", "")); };
  EXPECT_EQ(Field(stats(), "avgObjSize"), "0");
  shard.Insert(kCollection, {R"({"_id": 1, "a": [1, 2, 3]})", R"({"_id": 2, "a": 1})"});
  const int64_t size = static_cast<int64_t>(Json(R"({"_id": 1, "a": [1, 2, 3]})").SizeBytes() +
                                            Json(R"({"_id": 2, "a": 1})").SizeBytes());
  EXPECT_EQ(Field(stats(), "count"), "2");
  EXPECT_EQ(Field(stats(), "size"), std::to_string(size));
  EXPECT_EQ(Field(stats(), "avgObjSize"), std::to_string(size / 2));
  EXPECT_EQ(Field(stats(), "indexSizes._id_"), "0");
  const std::string four_records = Field(stats(), "totalIndexSize");
  EXPECT_NE(four_records, "0");
  shard.Run(
      kCollection.Command("update", R"("updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 5}}}])"));
  EXPECT_LT(std::stoi(Field(stats(), "totalIndexSize")), std::stoi(four_records));
  shard.Run(kCollection.Command("delete", R"("deletes": [{"q": {}, "limit": 0}])"));
  EXPECT_EQ(Field(stats(), "count"), "0");
  EXPECT_EQ(Field(stats(), "size"), "0");
  EXPECT_EQ(Field(stats(), "totalIndexSize"), "0");
}

TEST(ShardStats, HasTheFiguresOfTheEngine) {
  ShardFixture shard;
  shard.Put(kCollection);
  const bson::Document reply = shard.Run(R"({"_shardStats": 1})");
  EXPECT_TRUE(reply["latest"].Is(bson::Type::kTimestamp));
  EXPECT_TRUE(reply["clusterId"].Is(bson::Type::kObjectId));
  for (const char* field : {"lmdbBytes", "checkpoints", "batches", "operations", "collections"}) {
    EXPECT_TRUE(reply[field].Is(bson::Type::kInt64)) << field;
  }
}

}  // namespace
}  // namespace evenkeel::shard
