// Fail points that a router sets.
#include "shard/command/fail_points.h"

#include <gtest/gtest.h>

#include "base/fail_point.h"
#include "base/status.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::ShardFixture;

TEST(SetFailPoint, SetsAndCounts) {
  ShardFixture shard;
  const uint64_t before = base::fail_points::base_self_test.total_hits();
  EXPECT_EQ(Field(shard.Run(R"({"_setFailPoint": "base_self_test=times:1"})"), "count"),
            std::to_string(before));
  EXPECT_TRUE(EVENKEEL_FAIL_POINT(base_self_test));
  EXPECT_FALSE(EVENKEEL_FAIL_POINT(base_self_test));
  EXPECT_EQ(Field(shard.Run(R"({"_setFailPoint": "base_self_test=off"})"), "count"),
            std::to_string(before + 1));
}

TEST(SetFailPoint, BadText) {
  ShardFixture shard;
  EXPECT_EQ(Field(shard.Run(R"({"_setFailPoint": "no_such=always"})"), "code"), "9");
  EXPECT_EQ(Field(shard.Run(R"({"_setFailPoint": 1})"), "code"), "14");
}

}  // namespace
}  // namespace evenkeel::shard
