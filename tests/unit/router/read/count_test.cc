// count over one shard and several.
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class CountTest : public RouterTest {
 protected:
  CountTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On("count", "{\"n\": " + std::to_string(10 * (i + 1)) + "}");
    }
  }
};

TEST_F(CountTest, OneShardIsPassedThrough) {
  EXPECT_EQ(Fields(Run(R"({"count": "u", "skip": 2, "limit": 3})")), R"({"n":20})");
  EXPECT_EQ(shard(1).RequestsOf("count")[0]["skip"].AsInt32(), 2);
}

TEST_F(CountTest, SeveralAreSummedAndSkipAndLimitAppliedHere) {
  EXPECT_EQ(Fields(Run(R"({"count": "s"})")), R"({"n":60})");
  EXPECT_EQ(Fields(Run(R"({"count": "s", "skip": 5, "limit": 7})")), R"({"n":7})");
  const bson::Document asked = shard(2).RequestsOf("count")[1];
  EXPECT_EQ(asked["limit"].AsInt64(), 12);
  EXPECT_FALSE(asked.view().Contains("skip"));
  EXPECT_EQ(Fields(Run(R"({"count": "s", "skip": 100})")), R"({"n":0})");
}

TEST_F(CountTest, AbsentCollectionsHaveNone) {
  EXPECT_EQ(Fields(Run(R"({"count": "absent"})")), R"({"n":0})");
  EXPECT_EQ(CodeOfReply(Run(R"({"count": "absent", "query": {"$bad": 1}})")), 2);
}

TEST_F(CountTest, StaleRoutesAreRepeated) {
  shard(1).Next("count", StaleReply());
  EXPECT_EQ(Fields(Run(R"({"count": "s"})")), R"({"n":60})");
}

}  // namespace
}  // namespace evenkeel::router
