// Tests of _applyCatalog.
#include "shard/command/apply_catalog.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catalog/shard_catalog.h"
#include "shard/command/command.h"
#include "shard/command/orphans.h"
#include "shard/command/versions_in_use.h"
#include "storage/keys/key_encoding.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using storage::Table;
using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kIndexed{
    .indexes = {R"({"key": {"a": 1}, "name": "a_1"})", R"({"key": {"b": 1}, "name": "b_1"})"}};

TEST(ApplyCatalog, StepsMayBeRepeatedAndComeLate) {
  ShardFixture shard;
  TestCollection one = kIndexed, two = kIndexed;
  two.version = 2;
  two.ns = "db.renamed";
  shard.Put(one);
  shard.Put(one);
  shard.Insert(one, {R"({"_id": 1, "a": 1, "b": 1})"});
  shard.Put(two);
  shard.Put(two);
  shard.Put(one);  // an older step that was under way
  EXPECT_EQ(shard.Find(two), std::vector<std::string>{R"({"_id":1,"a":1,"b":1})"});
  EXPECT_EQ(shard.CodeOfRun(one.Command("find", "")), 13388);
  EXPECT_EQ(Field(shard.Run(two.Command("find", "")), "cursor.ns"), "\"db.renamed\"");
  shard.Restart();
  EXPECT_EQ(shard.Validate(two), "");
}

TEST(ApplyCatalog, WhatIsDroppedStaysDropped) {
  for (const bool restarted : {false, true}) {
    ShardFixture shard;
    shard.Put(kIndexed);
    shard.Insert(kIndexed, {R"({"_id": 1, "a": [1, 2], "b": 1})", R"({"_id": 2})"});
    shard.Drop(kIndexed);
    shard.Drop(kIndexed);
    if (restarted) shard.Restart();
    EXPECT_EQ(shard.CodeOfRun(kIndexed.Command("find", "")), 13388);
    EXPECT_EQ(shard.CodeOfRun(kIndexed.Command("count", "")), 13388);
    // Its id is never used again: a creation that comes late does nothing.
    shard.Put(kIndexed);
    TestCollection later = kIndexed;
    later.version = 7;
    shard.Put(later);
    EXPECT_EQ(shard.CodeOfRun(kIndexed.Command("find", "")), 13388);
    EXPECT_EQ(shard.CodeOfRun(later.Command("find", "")), 13388);
    EXPECT_EQ(CatalogOf(shard.store().Read()).Find(CollectionId{kIndexed.id}), nullptr);
  }
}

TEST(ApplyCatalog, ADropThatOvertakesTheCreationWins) {
  ShardFixture shard;
  shard.Drop(kIndexed);
  shard.Put(kIndexed);
  EXPECT_EQ(shard.CodeOfRun(kIndexed.Command("find", "")), 13388);
}

TEST(ApplyCatalog, DroppedDataLeaveTheDisk) {
  ShardFixture shard;
  TestCollection other;
  other.id = 2000;
  shard.Put(kIndexed);
  shard.Put(other);
  std::vector<std::string> documents;
  for (int i = 0; i < 500; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": [1, 2]})");
  }
  shard.Insert(kIndexed, documents);
  shard.Insert(other, {R"({"_id": 1})"});
  ASSERT_TRUE(shard.store().Checkpoint().ok());
  shard.Drop(kIndexed);
  ASSERT_TRUE(shard.store().Checkpoint().ok());
  ASSERT_TRUE(shard.store().FinishRemovals().ok());
  shard.Restart();
  EXPECT_EQ(shard.CountRecords(Table::kDocs, storage::DocPrefix(CollectionId{kIndexed.id})), 0u);
  EXPECT_EQ(shard.CountRecords(Table::kIndex), 0u);
  EXPECT_EQ(shard.Count(other), 1);
  EXPECT_EQ(shard.Validate(other), "");
}

TEST(ApplyCatalog, ADroppedIndexTakesRecordsCounterAndFlagsAlong) {
  ShardFixture shard;
  shard.Put(kIndexed);
  shard.Insert(kIndexed, {R"({"_id": 1, "a": [1, 2], "b": 1})"});
  EXPECT_TRUE(CatalogOf(shard.store().Read()).IsMultikey(IndexId{kIndexed.index_id(1)}));
  // Without the first one; ids follow their positions, so the second goes too.
  shard.Put(TestCollection{.version = 2});
  EXPECT_FALSE(CatalogOf(shard.store().Read()).IsMultikey(IndexId{kIndexed.index_id(1)}));
  EXPECT_EQ(
      Field(shard.Run(TestCollection{.version = 2}.Command("_collStats", "")), "totalIndexSize"),
      "0");
  shard.Restart();
  EXPECT_FALSE(CatalogOf(shard.store().Read()).IsMultikey(IndexId{kIndexed.index_id(1)}));
  EXPECT_EQ(shard.Validate(TestCollection{.version = 2}), "");
}

TEST(ApplyCatalog, BadEntriesAreRefusedAsAWhole) {
  ShardFixture shard;
  const std::string cases[] = {
      R"({"_applyCatalog": 1, "put": [1], "drop": []})",
      R"({"_applyCatalog": 1, "put": [{}], "drop": []})",
      R"({"_applyCatalog": 1, "put": [)" + kIndexed.Entry() + R"(, {"_id": "x"}], "drop": []})",
      R"({"_applyCatalog": 1, "put": [{"_id": "db.c", "id": {"$numberLong": "5000"}}]})",
  };
  for (const std::string& json : cases) EXPECT_NE(shard.CodeOfRun(json), 0) << json;
  EXPECT_EQ(shard.CodeOfRun(kIndexed.Command("find", "")), 13388);
}

// A collection that was put is there after a crash; its answer came only when it was durable.
TEST(ApplyCatalog, IsDurableWhenAnswered) {
  ShardFixture shard;
  shard.Put(kIndexed);
  shard.Insert(kIndexed, {R"({"_id": 1})"});
  shard.Crash();
  EXPECT_EQ(shard.Count(kIndexed), 1);
  EXPECT_EQ(shard.Validate(kIndexed), "");
}

// A collection whose name another incarnation has taken.
class Retired : public testing::Test {
 protected:
  Retired() {
    shard_.Put(kIndexed);
    for (int i = 0; i < 20; ++i) {
      shard_.Insert(kIndexed, {R"({"_id": )" + std::to_string(i) + R"(, "a": [1, 2]})"});
    }
    after_.version = 2;
    after_.writes_closed = true;
    after_.retired = true;
  }
  std::string Open() {
    return Field(shard_.Run(kIndexed.Command("find", R"("batchSize": 5)")), "cursor.id");
  }
  void RunUpkeep() {
    shard_.RunOnLoop([this]() -> Awaitable<void> {
      const absl::Status status = co_await shard_.service().RunUpkeep({});
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  bool IsThere() { return shard_.service().catalog()->Find(CollectionId{kIndexed.id}) != nullptr; }

  ShardFixture shard_;
  TestCollection after_ = kIndexed;
};

TEST_F(Retired, GoesAtOnceWhenNobodyReadsIt) {
  shard_.Put(after_);
  EXPECT_FALSE(IsThere());
  shard_.Put(after_);
  EXPECT_FALSE(IsThere());
}

TEST_F(Retired, StaysForOpenCursorsOnly) {
  const std::string cursor = Open();
  shard_.Put(after_);
  RunUpkeep();
  EXPECT_TRUE(IsThere());
  for (const char* command : {"find", "count", "_collStats"}) {
    EXPECT_EQ(shard_.CodeOfRun(kIndexed.Command(command, "")), 13388) << command;
  }
  EXPECT_EQ(shard_.RunJson(R"({"_listCatalog": 1})").find(kIndexed.ns), std::string::npos);
  const bson::Document rest = shard_.Run(R"({"getMore": )" + cursor + R"(, "collection": "c"})");
  EXPECT_EQ(Field(rest, "cursor.id"), "0");
  EXPECT_NE(Field(rest, "cursor.nextBatch").find("\"_id\":19"), std::string::npos);
  RunUpkeep();
  EXPECT_FALSE(IsThere());
}

TEST_F(Retired, CursorsThatStayOpenEndInTime) {
  const std::string cursor = Open();
  // A read that is under way, unlike a cursor, is never idle.
  const auto read = shard_.service().open_reads().Begin(
      *shard_.service().catalog()->Find(CollectionId{kIndexed.id}));
  shard_.Put(after_);
  RunUpkeep();
  shard_.wall.Advance(OrphanRemoval::kWaitMax);
  RunUpkeep();
  EXPECT_TRUE(IsThere());
  shard_.wall.Advance(absl::Seconds(1));
  RunUpkeep();
  EXPECT_FALSE(IsThere());
}

TEST_F(Retired, IsGoneAfterACrash) {
  Open();
  shard_.Put(after_);
  EXPECT_TRUE(IsThere());
  shard_.Crash();
  EXPECT_TRUE(IsThere());
  RunUpkeep();
  EXPECT_FALSE(IsThere());
}

}  // namespace
}  // namespace evenkeel::shard
