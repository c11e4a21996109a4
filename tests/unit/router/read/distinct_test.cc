// distinct over one shard and several.
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class DistinctTest : public RouterTest {
 protected:
  DistinctTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
  }
};

TEST_F(DistinctTest, ValuesOfAllShardsAreUnitedInOrder) {
  shard(0).On("distinct", R"({"values": [3, "a"]})");
  shard(1).On("distinct", R"({"values": [1, 3.0]})");
  shard(2).On("distinct", R"({"values": []})");
  EXPECT_EQ(Fields(Run(R"({"distinct": "s", "key": "x"})")), R"({"values":[1,3,"a"]})");
}

TEST_F(DistinctTest, OneShardsReplyIsPassedOn) {
  shard(1).On("distinct", R"({"values": [3, 1]})");
  EXPECT_EQ(Fields(Run(R"({"distinct": "u", "key": "x"})")), R"({"values":[3,1]})");
}

TEST_F(DistinctTest, AbsentCollectionsHaveNone) {
  EXPECT_EQ(Fields(Run(R"({"distinct": "absent", "key": "x"})")), R"({"values":[]})");
}

}  // namespace
}  // namespace evenkeel::router
