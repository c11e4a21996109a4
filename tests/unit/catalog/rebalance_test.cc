// Tests of equal shares with few moves: against sums over the ranges and against single hashes.
#include "catalog/rebalance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace evenkeel::catalog {
namespace {

using Shards = std::vector<ShardId>;

Shards FirstShards(uint32_t count) {
  Shards shards;
  for (uint32_t i = 0; i < count; ++i) shards.push_back(ShardId{i});
  return shards;
}

double WidthOf(const storage::HashSpan& span) {
  return static_cast<double>(static_cast<uint64_t>(span.last) - static_cast<uint64_t>(span.first)) +
         1;
}

const double kSpace = 18446744073709551616.0;

// What changes its owner, of the whole space.
double Moved(const Assignment& from, const Assignment& to) {
  double moved = 0;
  for (const ShardId shard : from.Owners()) {
    for (const storage::HashSpan& span : SpansLeaving(from, to, shard)) moved += WidthOf(span);
  }
  return moved / kSpace;
}

TEST(Rebalance, AJoiningShardTakesItsShareOnly) {
  for (uint32_t count = 1; count <= 20; ++count) {
    const Assignment before = Assignment::Equal("default", count);
    const Shards members = FirstShards(count + 1);
    EXPECT_FALSE(IsBalanced(before, members));
    const Assignment after = Rebalanced(before, "default.2", members);
    EXPECT_TRUE(IsBalanced(after, members)) << count;
    EXPECT_EQ(after.name(), "default.2");
    EXPECT_EQ(after.version(), before.version() + 1);
    EXPECT_NEAR(Moved(before, after), 1.0 / (count + 1), 1e-9) << count;
    for (uint32_t shard = 0; shard < count; ++shard) {
      EXPECT_NEAR(ShareLeaving(before, after, ShardId{shard}), 1.0 / (count + 1), 1e-9);
    }
    EXPECT_EQ(ShareLeaving(before, after, ShardId{count}), 0) << "it had nothing";
  }
}

TEST(Rebalance, ALeavingShardGivesItsShareOnly) {
  for (uint32_t count = 2; count <= 20; ++count) {
    const Assignment before = Assignment::Equal("default", count);
    const Shards members = FirstShards(count - 1);
    const Assignment after = Rebalanced(before, "next", members);
    EXPECT_TRUE(IsBalanced(after, members)) << count;
    EXPECT_TRUE(after.OwnsNothing(ShardId{count - 1}));
    EXPECT_NEAR(Moved(before, after), 1.0 / count, 1e-9) << count;
  }
}

TEST(Rebalance, OnlyOneIsLeft) {
  const Shards last = {ShardId{3}};
  const Assignment after = Rebalanced(Assignment::Equal("default", 5), "next", last);
  EXPECT_EQ(after.ranges().size(), 1u);
  EXPECT_EQ(after.OwnerOf(0), ShardId{3});
  EXPECT_TRUE(IsBalanced(after, last));
  EXPECT_TRUE(IsBalanced(Rebalanced(after, "more", FirstShards(4)), FirstShards(4)));
}

TEST(Rebalance, NothingMovesWhereSharesAreEqual) {
  const Assignment before = Assignment::Equal("default", 7);
  const Assignment after = Rebalanced(before, "next", FirstShards(7));
  EXPECT_LT(Moved(before, after), 1e-15) << "single hashes at most";
}

// Shards come and go at random: shares stay equal, spans agree with what single hashes say.
TEST(Rebalance, AHundredChanges) {
  base::Random random(7);
  Assignment assignment = Assignment::Equal("default", 3);
  Shards members = FirstShards(3);
  uint32_t next = 3;
  size_t most_ranges = 0;
  for (int change = 0; change < 100; ++change) {
    if (members.size() > 1 && random.Chance(0.5)) {
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(random.Uniform(members.size())));
    } else if (members.size() < 12) {
      members.push_back(ShardId{next++});
    }
    const Assignment after = Rebalanced(assignment, "next", members);
    ASSERT_TRUE(IsBalanced(after, members)) << change;
    ASSERT_EQ(after.ranges()[0].min, INT64_MIN);
    for (int i = 0; i < 50; ++i) {
      const auto hash = static_cast<int64_t>(random.Next64());
      const ShardId from = assignment.OwnerOf(hash), to = after.OwnerOf(hash);
      const auto holds = [hash](const storage::HashSpan& span) { return span.Contains(hash); };
      const auto leaving = SpansLeaving(assignment, after, from);
      EXPECT_EQ(std::any_of(leaving.begin(), leaving.end(), holds), from != to);
      const auto others = SpansOfOthers(after, to);
      EXPECT_FALSE(std::any_of(others.begin(), others.end(), holds));
      EXPECT_EQ(after.RangeOf(hash).owner, to);
    }
    most_ranges = std::max(most_ranges, after.ranges().size());
    assignment = after;
  }
  EXPECT_LT(most_ranges, 600u) << "ranges do not pile up without bound";
}

TEST(Rebalance, SpansCoverTheWholeSpace) {
  const Assignment from = Assignment::Equal("default", 1);
  const Assignment to = Rebalanced(from, "next", Shards{ShardId{1}});
  const std::vector<storage::HashSpan> leaving = SpansLeaving(from, to, ShardId{0});
  ASSERT_EQ(leaving.size(), 1u);
  EXPECT_EQ(leaving[0], storage::HashSpan{});
  EXPECT_EQ(SpansOfOthers(from, ShardId{1}), leaving);
  EXPECT_TRUE(SpansOfOthers(from, ShardId{0}).empty());
  EXPECT_EQ(from.SpanOf(0), storage::HashSpan{});
}

}  // namespace
}  // namespace evenkeel::catalog
