// Tests of parts of collections.
#include "catalog/part.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "catalog/rebalance.h"

namespace evenkeel::catalog {
namespace {

ShardKeyPattern KeyOf(const char* json) {
  return *ShardKeyPattern::Parse(bson::FromJson(json)->view());
}

bson::Document Row(int32_t id) {
  bson::Builder row;
  row.Append("_id", id).Append("a", id % 13);
  return row.Finish();
}

// What no shard of `done` has owned, as routers tell it: one part for each of them.
TEST(Part, OfSeveralTheCommonOnesAreWhatNobodyHasDone) {
  const Assignment assignment = Assignment::Equal("default", 4);
  const ShardKeyPattern key = KeyOf(R"({"a": "hashed"})");
  for (const std::set<ShardId>& done :
       {std::set<ShardId>{}, {ShardId{1}}, {ShardId{0}, ShardId{3}}}) {
    std::vector<Part> parts;
    for (const ShardId shard : done) {
      const Part part{key, SpansOfOthers(assignment, shard)};
      const auto copy = Part::FromBson(part.ToBson().view());
      ASSERT_TRUE(copy.ok()) << copy.status();
      parts.push_back(*copy);
    }
    for (int32_t id = 0; id < 100; ++id) {
      const bson::Document row = Row(id);
      const ShardId owner = assignment.OwnerOf(*key.HashOf(row.view()));
      bool in_all = true;
      for (const Part& part : parts) in_all = in_all && part.Contains(row.view());
      EXPECT_EQ(in_all, !done.contains(owner)) << id;
    }
  }
}

TEST(Part, DocumentsThatHaveNoPlaceAreInIt) {
  const Part nothing{KeyOf(R"({"a": "hashed"})"), {}};
  EXPECT_FALSE(nothing.Contains(bson::FromJson(R"({"a": 1})")->view()));
  EXPECT_TRUE(nothing.Contains(bson::FromJson(R"({"a": [1]})")->view()));
}

TEST(Part, OtherFormsAreRefused) {
  for (const char* json : {"{}", R"({"key": {"a": "hashed"}})", R"({"key": {"a": 1}, "spans": []})",
                           R"({"key": {"a": "hashed"}, "spans": [{"$numberLong": "1"}]})",
                           R"({"key": {"a": "hashed"}, "spans": [1.5, {"$numberLong": "1"}]})"}) {
    EXPECT_FALSE(Part::FromBson(bson::FromJson(json)->view()).ok()) << json;
  }
}

}  // namespace
}  // namespace evenkeel::catalog
