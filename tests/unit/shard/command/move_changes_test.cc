// Tests of the notes of a move of ranges: only what leaves is noted, and unique values may change
// hands while documents are copied.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/lib/hashed_ids.h"
#include "tests/lib/shard/range_move.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::HashedId;
using tests::RangeMove;
using Numbers = std::vector<int32_t>;

constexpr ShardId kFirst{0}, kSecond{1};

// Two shards that give each other parts of one bucket: 0 … 9 stay on the first one, 10 … 19 leave
// it; 20 … 29 leave the second one, the others stay there.
class MoveChanges : public testing::TestWithParam<bool> {
 protected:
  MoveChanges() {
    std::sort(ids_.begin(), ids_.end(),
              [](const auto& a, const auto& b) { return a.hash < b.hash; });
  }
  RangeMove::Options Exchange() const {
    return {.by_bucket = GetParam(),
            .before = {{INT64_MIN, kFirst}, {ids_[20].hash, kSecond}},
            .after = {{INT64_MIN, kFirst},
                      {ids_[10].hash, kSecond},
                      {ids_[20].hash, kFirst},
                      {ids_[30].hash, kSecond}}};
  }
  int32_t Number(size_t i) const { return ids_[i].document["_id"].AsInt32(); }
  std::string Text(size_t i) const { return std::to_string(Number(i)); }
  // The positions of documents that a shard has noted: negative (-1 - i) where it has gone.
  Numbers Noted(RangeMove& move, uint32_t shard) {
    Numbers out;
    const bson::Document reply = move.shard(shard).Run(move.now().Command("_changes", ""));
    for (const auto& [key, value] : reply["notes"].AsDocument()) {
      const bson::View note = value.AsDocument();
      const auto found = std::find_if(ids_.begin(), ids_.end(), [&](const HashedId& id) {
        return id.hash == note["h"].AsInt64();
      });
      const auto at = static_cast<int32_t>(found - ids_.begin());
      out.push_back(note["d"].missing() ? -1 - at : at);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  int CheckClashes(RangeMove& move, uint32_t shard) {
    return move.shard(shard).CodeOfRun(move.now().Command("_checkClashes", ""));
  }
  // A command of a client on a document of its own shape.
  static void Run(RangeMove& move, uint32_t shard, std::string_view command,
                  const std::string& rest) {
    const bson::Document reply = move.shard(shard).Run(move.now().Command(command, rest));
    EXPECT_EQ(Field(reply, "n"), "1") << bson::ToJson(reply);
    EXPECT_EQ(Field(reply, "writeErrors"), "missing") << bson::ToJson(reply);
  }
  static std::string Pair(const std::string& id, const std::string& a, int b = 1) {
    return R"({"_id": )" + id + R"(, "a": )" + a + R"(, "b": )" + std::to_string(b) + "}";
  }
  static void InsertPair(RangeMove& move, uint32_t shard, const std::string& document) {
    Run(move, shard, "insert", R"("documents": [)" + document + "]");
  }
  static void DeleteId(RangeMove& move, uint32_t shard, const std::string& id) {
    Run(move, shard, "delete", R"("deletes": [{"q": {"_id": )" + id + R"(}, "limit": 1}])");
  }

  std::vector<HashedId> ids_ = tests::IdsWithHashes({0, tests::kBucketWidth - 1}, 40);
};

INSTANTIATE_TEST_SUITE_P(Placed, MoveChanges, testing::Bool(),
                         [](const auto& by) { return by.param ? "ByBucket" : "ByHash"; });

TEST_P(MoveChanges, OnlyWhatLeavesIsNoted) {
  RangeMove move(Exchange());
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (i % 5 != 0) move.Insert(Number(i));
  }
  move.Begin();
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (i % 5 == 0) move.Insert(Number(i));
    if (i % 5 == 1) move.Replace(Number(i), 7);
    if (i % 5 == 2) move.Delete(Number(i));
  }
  const Numbers first{-18, -13, 10, 11, 15, 16}, second{-28, -23, 20, 21, 25, 26};
  EXPECT_EQ(Noted(move, 0), first);
  EXPECT_EQ(Noted(move, 1), second);
  move.Copy();
  EXPECT_EQ(Noted(move, 0), first) << "what arrives is no change";
  EXPECT_EQ(Noted(move, 1), second);
  move.CatchUp();
  EXPECT_EQ(Noted(move, 0), Numbers{});
  EXPECT_EQ(Noted(move, 1), Numbers{});
  move.Close();
  EXPECT_EQ(move.NoteLeaving(), 0);
  move.Switch();
  EXPECT_EQ(move.Difference(), "");
}

// Sharded by a field, a document may change its place without another `_id`.
TEST_P(MoveChanges, AChangedShardKeyLeavesOrComes) {
  if (GetParam()) return;
  RangeMove move(Exchange());
  for (const size_t i : {0, 1, 10, 11}) move.Insert(Number(i));
  move.Begin();
  move.Copy();
  const auto change = [&](size_t from, size_t to) {
    Run(move, 0, "update",
        R"("updates": [{"q": {"_id": )" + Text(from) + R"(}, "u": {"$set": {"a": )" + Text(to) +
            "}}}]");
  };
  change(0, 2);
  EXPECT_EQ(Noted(move, 0), Numbers{}) << "stays where it stays";
  change(1, 12);
  EXPECT_EQ(Noted(move, 0), Numbers{12}) << "begins to leave";
  change(10, 3);
  EXPECT_EQ(Noted(move, 0), (Numbers{-11, 12})) << "leaves no more";
  change(11, 13);
  EXPECT_EQ(Noted(move, 0), (Numbers{-12, -11, 12, 13}));
  move.CatchUp();
  move.Close();
  EXPECT_EQ(CheckClashes(move, 1), 0);
  EXPECT_EQ(move.NoteLeaving(), 0);
  move.Switch();
  for (const uint32_t shard : {0u, 1u}) {
    EXPECT_EQ(move.shard(shard).Count(move.now()), 2);
    EXPECT_EQ(move.shard(shard).Validate(move.now()), "");
  }
}

struct HandsCase {
  std::string what;
  // Behind the copy of a document that leaves the first shard, with the `_id` 1.
  bool goes, comes;  // it is deleted there; another one with its `_id` comes to the second shard
  bool comes_first;  // before the other one has gone
  int clashes;       // what _checkClashes says before the switch
};

TEST_P(MoveChanges, AnIdThatChangesHands) {
  if (GetParam()) return;  // equal `_id`s lie on one shard
  const HandsCase cases[] = {
      {"nothing happens", false, false, false, 0},
      {"it goes", true, false, false, 0},
      {"it goes, another one comes", true, true, false, 0},
      {"another one comes, it goes", true, true, true, 0},
      {"both are there", false, true, false, 11000},
  };
  for (const HandsCase& c : cases) {
    RangeMove move(Exchange());
    InsertPair(move, 0, Pair("1", Text(10)));
    move.Begin();
    move.Copy();
    const auto come = [&] {
      if (c.comes) InsertPair(move, 1, Pair("1", Text(30)));
    };
    if (c.comes_first) come();
    if (c.goes) DeleteId(move, 0, "1");
    if (!c.comes_first) come();
    move.CatchUp();
    move.Close();
    EXPECT_EQ(CheckClashes(move, 1), c.clashes) << c.what;
    if (c.clashes != 0) continue;
    EXPECT_EQ(move.NoteLeaving(), 0);
    move.Switch();
    EXPECT_EQ(move.shard(1).Count(move.now()), c.comes || !c.goes ? 1 : 0) << c.what;
    for (const uint32_t shard : {0u, 1u}) {
      EXPECT_EQ(move.shard(shard).Validate(move.now()), "") << c.what;
    }
  }
}

// Both leave; each one meets the other where it arrives.
TEST_P(MoveChanges, EqualIdsThatPassEachOther) {
  if (GetParam()) return;
  RangeMove move(Exchange());
  InsertPair(move, 0, Pair("1", Text(10), 5));
  InsertPair(move, 1, Pair("1", Text(20), 6));
  move.Begin();
  move.Copy();
  move.Close();
  EXPECT_EQ(CheckClashes(move, 0), 0);
  EXPECT_EQ(CheckClashes(move, 1), 0);
  EXPECT_EQ(move.NoteLeaving(), 0);
  move.Switch();
  EXPECT_EQ(move.shard(0).Find(move.now()),
            std::vector<std::string>{R"({"_id":1,"a":)" + Text(20) + R"(,"b":6})"});
  EXPECT_EQ(move.shard(1).Find(move.now()),
            std::vector<std::string>{R"({"_id":1,"a":)" + Text(10) + R"(,"b":5})"});
}

// Of documents that leave together: their notes come at once, in whatever order.
TEST_P(MoveChanges, UniqueValuesThatChangeHandsAmongThoseThatLeave) {
  if (GetParam()) return;
  RangeMove::Options options = Exchange();
  options.indexes = {R"({"key": {"a": 1, "b": 1}, "name": "a_1_b_1", "unique": true})"};
  for (const bool copied_between : {false, true}) {
    RangeMove move(options);
    InsertPair(move, 0, Pair("1", Text(10), 1));
    InsertPair(move, 0, Pair("2", Text(10), 2));
    move.Begin();
    if (!copied_between) move.Copy();
    const auto set = [&](const char* id, int b) {
      Run(move, 0, "update",
          std::string(R"("updates": [{"q": {"_id": )") + id + R"(}, "u": {"$set": {"b": )" +
              std::to_string(b) + "}}}]");
    };
    set("1", 3);
    set("2", 1);
    if (copied_between) move.Copy();
    set("1", 2);
    move.CatchUp();
    move.Close();
    EXPECT_EQ(CheckClashes(move, 1), 0);
    EXPECT_EQ(move.NoteLeaving(), 0);
    move.Switch();
    EXPECT_EQ(move.shard(1).Find(move.now(), R"("sort": {"_id": 1})"),
              (std::vector<std::string>{R"({"_id":1,"a":)" + Text(10) + R"(,"b":2})",
                                        R"({"_id":2,"a":)" + Text(10) + R"(,"b":1})"}));
    EXPECT_EQ(move.shard(1).Validate(move.now()), "");
  }
}

}  // namespace
}  // namespace evenkeel::shard
