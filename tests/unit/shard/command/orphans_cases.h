// What tests of orphaned documents share: a move that leaves some, queries beside it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/json.h"
#include "shard/command/command.h"
#include "tests/lib/hashed_ids.h"
#include "tests/lib/shard/range_move.h"

namespace evenkeel::shard {

// The first shard gives what lies between a border inside of a bucket and the second one's.
class OrphansCase : public testing::TestWithParam<bool> {
 protected:
  OrphansCase()
      : move_({.by_bucket = GetParam(),
               .before = {{INT64_MIN, ShardId{0}}, {kIds[kEnd].hash, ShardId{1}}},
               .after = {{INT64_MIN, ShardId{0}}, {kIds[kBorder].hash, ShardId{1}}}}) {
    for (const tests::HashedId& id : kIds) move_.Insert(NumberOf(id));
  }
  void Move() {
    move_.Begin();
    move_.Copy();
    move_.Close();
    ASSERT_EQ(move_.NoteLeaving(), 0);
    move_.Switch();
  }
  static int32_t NumberOf(const tests::HashedId& id) { return id.document["_id"].AsInt32(); }
  // Of one shard.
  absl::Status RunUpkeep(uint32_t number = 0) {
    absl::Status status;
    move_.shard(number).RunOnLoop([&]() -> Awaitable<void> {
      status = co_await move_.shard(number).service().RunUpkeep({});
    });
    return status;
  }
  // Orphans that upkeep leaves.
  int64_t Left(uint32_t number = 0) {
    EXPECT_TRUE(RunUpkeep(number).ok());
    return move_.Foreign(number).documents;
  }
  // A cursor behind its first rows.
  int64_t Open(std::string_view command, const std::string& rest, uint32_t number = 0) {
    const bson::Document reply = move_.shard(number).Run(move_.now().Command(command, rest));
    EXPECT_EQ(tests::Field(reply, "code"), "missing") << bson::ToJson(reply);
    return reply["cursor"].AsDocument()["id"].AsInt64();
  }
  int64_t OpenFind(uint32_t number = 0) { return Open("find", R"("batchSize": 2)", number); }
  // How many rows come next, or -code.
  int64_t More(int64_t cursor, int batch, uint32_t number = 0) {
    const bson::Document reply = move_.shard(number).Run(
        R"({"getMore": {"$numberLong": ")" + std::to_string(cursor) +
        R"("}, "collection": "c", "batchSize": )" + std::to_string(batch) + R"(, "$db": "db"})");
    if (!reply["code"].missing()) return -reply["code"].AsInt32();
    return static_cast<int64_t>(
        reply["cursor"].AsDocument()["nextBatch"].AsDocument().CountFields());
  }

  static constexpr size_t kBorder = 120, kEnd = 230;
  static constexpr int64_t kKept = kBorder, kGiven = kEnd - kBorder, kAll = kEnd;
  inline static const std::vector<tests::HashedId> kIds = tests::ClusteredIds();
  tests::RangeMove move_;
};

}  // namespace evenkeel::shard
