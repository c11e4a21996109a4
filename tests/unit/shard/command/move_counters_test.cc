// Tests of counters through a whole move of ranges, on the shards that give and those that get:
// documents and bytes are exact at every point.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "tests/lib/hashed_ids.h"
#include "tests/lib/shard/range_move.h"

namespace evenkeel::shard {
namespace {

using catalog::HashRange;
using storage::Count;
using tests::HashedId;
using tests::RangeMove;

constexpr ShardId kFirst{0}, kSecond{1}, kThird{2};

// Documents in shared buckets and elsewhere; some are there, others come.
class MoveCounters : public testing::TestWithParam<bool> {
 protected:
  // Both shards of the first two give and get parts of one bucket; the third only gets.
  RangeMove::Options Exchange() const {
    const auto at = [this](size_t i) { return ids_[i].hash; };
    return {.by_bucket = GetParam(),
            .before = {{INT64_MIN, kFirst}, {at(130), kSecond}},
            .after = {{INT64_MIN, kFirst},
                      {at(100), kSecond},
                      {at(120), kFirst},
                      {at(140), kThird},
                      {at(150), kSecond}},
            .shards = 3};
  }
  // The first one gives all.
  RangeMove::Options Emptied() const {
    return {.by_bucket = GetParam(),
            .before = {{INT64_MIN, kFirst}, {ids_[130].hash, kSecond}},
            .after = {{INT64_MIN, kSecond}}};
  }
  // The first one only gets, the second gives a part of what it has.
  RangeMove::Options Given() const {
    return {.by_bucket = GetParam(),
            .before = {{INT64_MIN, kFirst}, {ids_[100].hash, kSecond}},
            .after = {{INT64_MIN, kFirst}, {ids_[130].hash, kSecond}}};
  }
  void Fill(RangeMove& move) {
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (i % 3 != 0) Insert(move, i);
    }
  }
  void Insert(RangeMove& move, size_t i) {
    move.Insert(Number(i), static_cast<int>(i), i % 7);
    there_[i] = true;
  }
  // Some inserts, replacements by larger and smaller ones, deletes.
  void Write(RangeMove& move, int count) {
    for (int i = 0; i < count; ++i) {
      const size_t at = random_.Uniform(ids_.size());
      if (!there_[at]) {
        Insert(move, at);
      } else if (random_.Chance(0.4)) {
        move.Delete(Number(at));
        there_[at] = false;
      } else {
        move.Replace(Number(at), static_cast<int>(random_.Uniform(9)), random_.Uniform(50));
      }
    }
  }
  int32_t Number(size_t i) const { return ids_[i].document["_id"].AsInt32(); }
  // Before its end, with writes between all steps.
  void Copy(RangeMove& move) {
    move.Begin();
    Write(move, 30);
    EXPECT_EQ(move.Difference(), "") << "noted";
    move.Copy();
    EXPECT_EQ(move.Difference(), "") << "copied";
    Write(move, 60);
    EXPECT_EQ(move.Difference(), "") << "written behind the copy";
    move.CatchUp();
    EXPECT_EQ(move.Difference(), "") << "taken over";
    Write(move, 60);
    move.Copy();  // by another router: again
    EXPECT_EQ(move.Difference(), "") << "copied again";
    move.Close();
    move.CatchUp();
    EXPECT_EQ(move.Difference(), "") << "closed";
  }

  const std::vector<HashedId> ids_ = tests::ClusteredIds(60);
  std::vector<bool> there_ = std::vector<bool>(ids_.size());
  base::Random random_{5};
};

INSTANTIATE_TEST_SUITE_P(Placed, MoveCounters, testing::Bool(),
                         [](const auto& by) { return by.param ? "ByBucket" : "ByHash"; });

TEST_P(MoveCounters, OfAMoveThatIsDone) {
  for (const RangeMove::Options& options : {Exchange(), Emptied(), Given()}) {
    RangeMove move(options);
    std::fill(there_.begin(), there_.end(), false);
    Fill(move);
    ASSERT_EQ(move.Difference(), "");
    Copy(move);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(move.NoteLeaving(), 0) << "repeatable";
    ASSERT_EQ(move.Difference(), "") << "what leaves is owned still";
    move.Switch();
    ASSERT_EQ(move.Difference(), "") << "switched";
    Write(move, 60);
    ASSERT_EQ(move.Difference(), "") << "written by the new ranges";
    for (uint32_t shard = 0; shard < options.shards; ++shard) {
      move.shard(shard).Restart();
      const Count orphans = move.Foreign(shard);
      EXPECT_EQ(move.RemoveOrphans(shard), orphans.documents);
      EXPECT_EQ(move.Foreign(shard), Count{}) << "none are left, and no bytes";
    }
    ASSERT_EQ(move.Difference(), "") << "cleaned";
  }
}

TEST_P(MoveCounters, OfAMoveThatIsGivenUpAndDoneLater) {
  RangeMove move(Exchange());
  Fill(move);
  Copy(move);
  Count arrived;
  for (uint32_t shard = 0; shard < 3; ++shard) arrived.documents += move.Foreign(shard).documents;
  ASSERT_GT(arrived.documents, 10);
  ASSERT_EQ(move.NoteLeaving(), 0);
  move.GiveUp();
  ASSERT_EQ(move.Difference(), "") << "undone";
  Write(move, 60);
  ASSERT_EQ(move.Difference(), "") << "written behind it";
  int64_t removed = 0;
  for (uint32_t shard = 0; shard < 3; ++shard) {
    removed += move.RemoveOrphans(shard);
    EXPECT_EQ(move.Foreign(shard), Count{});
  }
  EXPECT_EQ(removed, arrived.documents);
  Copy(move);
  ASSERT_EQ(move.NoteLeaving(), 0);
  move.Switch();
  ASSERT_EQ(move.Difference(), "") << "done";
}

// A shard that gives all or nothing knows how many, another one the most there can be.
TEST_P(MoveCounters, WrongNumbersOfWhatLeaves) {
  struct Case {
    RangeMove::Options options;
    Count more;
    int code;
  };
  const Case cases[] = {
      {Given(), {}, 0},           {Given(), {1, 0}, 1},         {Given(), {0, -1}, 1},
      {Emptied(), {1, 0}, 1},     {Emptied(), {-1, 0}, 1},      {Emptied(), {0, 1}, 1},
      {Emptied(), {0, -1}, 1},    {Emptied(), {}, 0},           {Exchange(), {}, 0},
      {Exchange(), {9999, 0}, 1}, {Exchange(), {0, 1 << 20}, 1}};
  for (const Case& c : cases) {
    RangeMove move(c.options);
    std::fill(there_.begin(), there_.end(), false);
    Fill(move);
    move.Begin();
    move.Copy();
    move.Close();
    EXPECT_EQ(move.NoteLeaving(c.more), c.code)
        << c.more.documents << " " << c.more.bytes << " " << c.options.shards;
    EXPECT_EQ(move.Difference(), "");
  }
  RangeMove move(Emptied());
  for (const char* rest : {"", R"("documents": 1)", R"("documents": "1", "bytes": 1)"}) {
    const std::string command = move.now().Command("_noteLeaving", rest);
    EXPECT_EQ(move.shard(0).CodeOfRun(command), 20) << "nothing is moved";
  }
  move.Begin();
  for (const char* rest : {"", R"("documents": 1)", R"("documents": "1", "bytes": 1)"}) {
    const std::string command = move.now().Command("_noteLeaving", rest);
    EXPECT_EQ(move.shard(0).CodeOfRun(command), 72) << rest;
  }
}

// Where a shard could not see that the number was wrong, the removal of orphans shows it.
TEST_P(MoveCounters, AWrongNumberIsCorrectedWithTheOrphans) {
  for (const Count more : {Count{2, 60}, Count{-3, -40}, Count{0, 11}, Count{1, 0}}) {
    RangeMove move(Exchange());
    std::fill(there_.begin(), there_.end(), false);
    Fill(move);
    move.Begin();
    move.Copy();
    move.Close();
    const Count second = move.Foreign(1);
    ASSERT_EQ(move.NoteLeaving(more), 1) << "the third one has nothing to give";
    move.Switch();
    EXPECT_NE(move.Difference(), "");
    EXPECT_NE(move.Foreign(1), second);
    for (uint32_t shard = 0; shard < 3; ++shard) {
      EXPECT_GE(move.RemoveOrphans(shard), 0);
      EXPECT_EQ(move.Foreign(shard), Count{});
    }
    EXPECT_EQ(move.Difference(), "") << more.documents << " " << more.bytes;
  }
}

}  // namespace
}  // namespace evenkeel::shard
