// Tests of documents that lie on a shard and belong to another one: nobody sees them, and
// they are removed in slices.
#include "shard/command/orphans.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/json.h"
#include "base/status.h"
#include "shard/command/counters.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"
#include "tests/unit/shard/command/orphans_cases.h"

namespace evenkeel::shard {
namespace {

using storage::Count;
using storage::Table;
using tests::Field;
using tests::Json;
using tests::RangeMove;
using tests::ShardFixture;

constexpr ShardId kFirst{0}, kSecond{1};

class Orphans : public OrphansCase {};

INSTANTIATE_TEST_SUITE_P(Placed, Orphans, testing::Bool(),
                         [](const auto& by) { return by.param ? "ByBucket" : "ByHash"; });

TEST_P(Orphans, AreInNoAnswer) {
  Move();
  ASSERT_EQ(move_.Foreign(0).documents, kGiven);
  EXPECT_EQ(move_.Difference(), "");
  const Count before = move_.Foreign(0);
  const std::string owned = std::to_string(kBorder);
  struct Case {
    const char *command, *rest, *field;
    std::string expected;
  };
  const Case cases[] = {
      {"aggregate", R"("cursor": {}, "pipeline": [{"$group": {"_id": 1, "n": {"$sum": 1}}}])",
       "cursor.firstBatch.0.n", owned},
      {"count", R"("query": {"_id": {"$gte": 0}}, "hint": "_id_")", "n", owned},
      {"count", R"("query": {"t": ""})", "n", owned},
      {"update", R"("updates": [{"q": {}, "u": {"$inc": {"b": 1}}, "multi": true}])", "n", owned},
      {"delete", R"("deletes": [{"q": {"b": 2}, "limit": 0}])", "n", owned},
  };
  const bson::Document values =
      move_.shard(0).Run(move_.now().Command("distinct", R"("key": "_id")"));
  EXPECT_EQ(values["values"].AsDocument().CountFields(), size_t{kBorder});
  for (size_t i = kBorder; i < kEnd; i += 20) {
    const std::string number = std::to_string(NumberOf(kIds[i]));
    for (const std::string& query :
         {R"({"_id": )" + number + "}", R"({"_id": )" + number + R"(, "a": )" + number + "}"}) {
      EXPECT_TRUE(move_.shard(0).Find(move_.now(), R"("filter": )" + query).empty()) << query;
      const auto write = [&](std::string_view command, const std::string& rest) {
        return Field(move_.shard(0).Run(move_.now().Command(command, rest)), "n");
      };
      EXPECT_EQ(write("update", R"("updates": [{"q": )" + query + R"(, "u": {"$inc": {"b": 1}}}])"),
                "0");
      EXPECT_EQ(write("delete", R"("deletes": [{"q": )" + query + R"(, "limit": 1}])"), "0");
    }
  }
  for (const Case& c : cases) {
    EXPECT_EQ(Field(move_.shard(0).Run(move_.now().Command(c.command, c.rest)), c.field),
              c.expected)
        << c.command << " " << c.rest;
  }
  EXPECT_EQ(move_.shard(0).Count(move_.now()), 0);
  EXPECT_EQ(move_.Foreign(0), before);
  EXPECT_EQ(move_.shard(0).Validate(move_.now()), "");
}

TEST_P(Orphans, TakeNoIdFromOthers) {
  if (GetParam()) return;  // equal `_id`s lie on one shard
  Move();
  const std::string taken = std::to_string(NumberOf(kIds[kBorder]));
  const std::string owned = std::to_string(NumberOf(kIds[0]));
  const std::string insert = move_.now().Command(
      "insert", R"("documents": [{"_id": )" + taken + R"(, "a": )" + owned + "}]");
  EXPECT_EQ(Field(move_.shard(0).Run(insert), "writeErrors"), "missing");
  EXPECT_EQ(Field(move_.shard(0).Run(insert), "writeErrors.0.code"), "11000")
      << "but that one does";
  EXPECT_EQ(move_.RemoveOrphans(0), kGiven);
  EXPECT_EQ(move_.shard(0).Count(move_.now()), kKept + 1);
  EXPECT_EQ(move_.shard(0).Validate(move_.now()), "");
}

TEST_P(Orphans, AreNotRemovedWhileRangesMove) {
  move_.Begin();
  move_.Copy();
  for (const uint32_t shard : {0u, 1u}) {
    EXPECT_EQ(move_.RemoveOrphans(shard), -20);
    EXPECT_TRUE(RunUpkeep(shard).ok());
  }
  EXPECT_EQ(move_.Foreign(1).documents, kGiven);
  move_.GiveUp();
  EXPECT_TRUE(RunUpkeep(1).ok());
  EXPECT_EQ(move_.Foreign(1), Count{}) << "brought in vain";
  EXPECT_EQ(move_.Difference(), "");
}

TEST_P(Orphans, AreRemovedInSlices) {
  for (int32_t n = 100'000; n < 101'500; ++n) move_.Insert(n);
  for (int32_t n = 200'000; n < 200'010; ++n) move_.Insert(n, 1, 600'000);
  Move();
  const Count orphans = move_.Foreign(0);
  ASSERT_GT(orphans.documents, 600);
  const size_t before = move_.shard(0).log.entries().size();
  EXPECT_EQ(move_.RemoveOrphans(0), orphans.documents);
  EXPECT_GE(move_.shard(0).log.entries().size() - before, 4u);
  EXPECT_EQ(move_.Difference(), "");
}

TEST_P(Orphans, ACrashBetweenSlices) {
  for (int32_t n = 100'000; n < 101'500; ++n) move_.Insert(n);
  Move();
  const int64_t orphans = move_.Foreign(0).documents;
  base::CancellationSource cancelled;
  cancelled.Cancel();
  const bson::Document reply =
      move_.shard(0)
          .Start(Json(move_.now().Command("_removeOrphans", "")), cancelled.token())
          .get();
  EXPECT_EQ(Field(reply, "code"), "11601");
  const int64_t left = move_.Foreign(0).documents;
  EXPECT_LT(left, orphans);
  EXPECT_GT(left, 0);
  EXPECT_EQ(move_.Difference(), "");
  move_.shard(0).Crash();
  EXPECT_EQ(move_.Difference(), "");
  EXPECT_EQ(move_.RemoveOrphans(0), left);
  EXPECT_EQ(move_.Difference(), "");
}

TEST_P(Orphans, ADropRemovesAllThereIs) {
  for (const std::string phase : {"moving", "switched", "given up"}) {
    RangeMove move({.by_bucket = GetParam(),
                    .before = {{INT64_MIN, kFirst}, {0, kSecond}, {kIds[kBorder].hash + 1, kFirst}},
                    .after = {{INT64_MIN, kSecond}, {0, kFirst}}});
    for (size_t i = 0; i < kIds.size(); i += 2) move.Insert(NumberOf(kIds[i]));
    move.Begin();
    move.Copy();
    for (size_t i = 0; i < kIds.size(); i += 10) move.Replace(NumberOf(kIds[i]), 7);
    move.CatchUp();
    for (size_t i = 0; i < kIds.size(); i += 14) move.Delete(NumberOf(kIds[i]));
    if (phase == "switched") {
      move.CatchUp();
      ASSERT_EQ(move.NoteLeaving(), 0);
      move.Switch();
    } else if (phase == "given up") {
      move.GiveUp();
    }
    for (const uint32_t number : {0u, 1u}) {
      ShardFixture& shard = move.shard(number);
      ASSERT_GT(move.Foreign(number).documents, 5) << phase;
      shard.Drop(move.now());
      ASSERT_TRUE(shard.store().FinishRemovals().ok());
      for (const Table table : {Table::kDocs, Table::kIndex, Table::kChanges}) {
        EXPECT_EQ(shard.CountRecords(table), 0u) << phase << " " << static_cast<int>(table);
      }
      const CollectionId id{move.now().id};
      const storage::ReadSlice slice = shard.store().Read();
      std::vector<std::string> counters{OwnedCounterKey(id), OrphanedCounterKey(id),
                                        LeavingCounterKey(id)};
      for (const int64_t min : {INT64_MIN, int64_t{0}, kIds[kBorder].hash + 1}) {
        counters.push_back(ArrivingCounterKey(id, min));
      }
      for (const std::string& key : counters) EXPECT_EQ(slice.Counter(key), Count{}) << key[0];
    }
  }
}

}  // namespace
}  // namespace evenkeel::shard
