// Tests of equal ranges and of their form in config.assignments.
#include "catalog/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/random.h"
#include "base/status.h"

namespace evenkeel::catalog {
namespace {

// The widths of all ranges: differences modulo 2^64.
std::vector<uint64_t> WidthsOf(const Assignment& assignment) {
  std::vector<uint64_t> widths;
  const auto ranges = assignment.ranges();
  for (size_t i = 0; i < ranges.size(); ++i) {
    const int64_t next = i + 1 < ranges.size() ? ranges[i + 1].min : INT64_MIN;
    widths.push_back(static_cast<uint64_t>(next) - static_cast<uint64_t>(ranges[i].min));
  }
  return widths;
}

TEST(Assignment, EqualRangesDifferByAtMostOne) {
  for (uint32_t count = 1; count <= 64; ++count) {
    const Assignment assignment = Assignment::Equal("default", count);
    ASSERT_EQ(assignment.ranges().size(), count);
    EXPECT_EQ(assignment.ranges()[0].min, INT64_MIN);
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(assignment.ranges()[i].owner, ShardId{i}) << count << " shards";
    }
    if (count == 1) continue;  // its width, 2^64, does not fit
    const std::vector<uint64_t> widths = WidthsOf(assignment);
    const auto [least, most] = std::minmax_element(widths.begin(), widths.end());
    EXPECT_LE(*most - *least, 1u) << count << " shards";
    uint64_t sum = 0;
    for (const uint64_t width : widths) sum += width;
    EXPECT_EQ(sum, 0u) << count << " shards: not all of 2^64 covered";
  }
}

TEST(Assignment, ThreeShards) {
  const Assignment assignment = Assignment::Equal("default", 3);
  EXPECT_EQ(assignment.ranges()[1].min, -3074457345618258603);
  EXPECT_EQ(assignment.ranges()[2].min, 3074457345618258602);
}

TEST(Assignment, OwnersAtTheBorders) {
  for (const uint32_t count : {1u, 2u, 3u, 7u, 64u}) {
    const Assignment assignment = Assignment::Equal("default", count);
    EXPECT_EQ(assignment.OwnerOf(INT64_MIN), ShardId{0});
    EXPECT_EQ(assignment.OwnerOf(INT64_MAX), ShardId{count - 1});
    for (uint32_t i = 1; i < count; ++i) {
      const int64_t min = assignment.ranges()[i].min;
      EXPECT_EQ(assignment.OwnerOf(min), ShardId{i});
      EXPECT_EQ(assignment.OwnerOf(min - 1), ShardId{i - 1});
      EXPECT_TRUE(assignment.Owns(ShardId{i}, min));
      EXPECT_FALSE(assignment.Owns(ShardId{i}, min - 1));
    }
  }
}

TEST(Assignment, ShardsMayOwnSeveralRanges) {
  const auto document = bson::FromJson(R"({
      "_id": "grown", "version": {"$numberLong": "7"}, "ranges": [
        {"min": {"$numberLong": "-9223372036854775808"}, "shard": 2},
        {"min": {"$numberLong": "-100"}, "shard": 0},
        {"min": {"$numberLong": "0"}, "shard": 2},
        {"min": {"$numberLong": "50"}, "shard": 1}]})");
  ASSERT_TRUE(document.ok());
  const auto assignment = Assignment::FromBson(*document);
  ASSERT_TRUE(assignment.ok()) << assignment.status();
  EXPECT_EQ(assignment->name(), "grown");
  EXPECT_EQ(assignment->version(), 7);
  EXPECT_EQ(assignment->Owners(), (std::vector{ShardId{0}, ShardId{1}, ShardId{2}}));
  EXPECT_EQ(assignment->OwnerOf(-101), ShardId{2});
  EXPECT_EQ(assignment->OwnerOf(-1), ShardId{0});
  EXPECT_EQ(assignment->OwnerOf(49), ShardId{2});
  EXPECT_EQ(assignment->OwnerOf(50), ShardId{1});
}

TEST(Assignment, OwnersOfSpans) {
  const Assignment assignment = Assignment::Equal("default", 3);
  const int64_t border = assignment.ranges()[1].min;
  struct Case {
    storage::HashSpan hashes;
    std::optional<ShardId> owner;
  };
  const Case cases[] = {
      {{INT64_MIN, border - 1}, ShardId{0}},
      {{INT64_MIN, border}, std::nullopt},
      {{border - 1, border}, std::nullopt},
      {{border, border}, ShardId{1}},
      {{border, border + 7}, ShardId{1}},
      {{INT64_MAX - 7, INT64_MAX}, ShardId{2}},
      {{}, std::nullopt},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(assignment.OwnerOf(c.hashes), c.owner) << c.hashes.first << " " << c.hashes.last;
  }
}

TEST(Assignment, SurvivesARoundTrip) {
  for (const uint32_t count : {1u, 3u, 64u}) {
    const Assignment before = Assignment::Equal("some name", count);
    const bson::Document document = before.ToBson();
    const auto after = Assignment::FromBson(document);
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_EQ(after->name(), before.name());
    EXPECT_EQ(after->version(), before.version());
    EXPECT_TRUE(std::equal(after->ranges().begin(), after->ranges().end(), before.ranges().begin(),
                           before.ranges().end()));
    EXPECT_EQ(bson::ToCanonicalJson(after->ToBson()), bson::ToCanonicalJson(document));
  }
}

TEST(Assignment, DamagedRowsAreRefused) {
  const std::string id = R"("_id": "x", "version": {"$numberLong": "1"}, )";
  const std::string first = R"({"min": {"$numberLong": "-9223372036854775808"}, "shard": 0})";
  const std::string five = R"(, {"min": {"$numberLong": "5"}, "shard": 1}, )";
  const std::string cases[] = {
      "{}",
      R"({"_id": 1, "version": {"$numberLong": "1"}, "ranges": []})",
      R"({"_id": "x", "version": 1, "ranges": []})",
      R"({"_id": "x", "version": {"$numberLong": "1"}, "ranges": {}})",
      "{" + id + R"("ranges": []})",
      "{" + id + R"("ranges": [{"min": {"$numberLong": "0"}, "shard": 0}]})",
      // Not ascending, and twice the same border.
      "{" + id + R"("ranges": [)" + first + five + R"({"min": {"$numberLong": "4"}, "shard": 0}]})",
      "{" + id + R"("ranges": [)" + first + five + R"({"min": {"$numberLong": "5"}, "shard": 0}]})",
      // Wrong types inside, which must not be read as something else.
      "{" + id + R"("ranges": [1]})",
      "{" + id + R"("ranges": [{"min": {"$numberLong": "-9223372036854775808"}}]})",
      "{" + id + R"("ranges": [{"min": "x", "shard": 0}]})",
      "{" + id + R"("ranges": [)" + first + R"(, {"min": {"$numberLong": "5"}, "shard": -1}]})",
  };
  for (const std::string& json : cases) {
    const auto document = bson::FromJson(json);
    ASSERT_TRUE(document.ok()) << json;
    EXPECT_EQ(CodeOf(Assignment::FromBson(*document).status()), ErrorCode::kInvalidBSON) << json;
  }
}

TEST(Assignment, EveryHashHasTheOwnerWhoseRangeHoldsIt) {
  base::Random random(11);
  const Assignment assignment = Assignment::Equal("default", 13);
  const auto ranges = assignment.ranges();
  for (int i = 0; i < 10'000; ++i) {
    const auto hash = static_cast<int64_t>(random.Next64());
    size_t expected = 0;
    while (expected + 1 < ranges.size() && ranges[expected + 1].min <= hash) ++expected;
    ASSERT_EQ(assignment.OwnerOf(hash), ranges[expected].owner) << hash;
  }
}

}  // namespace
}  // namespace evenkeel::catalog
