// cleanupOrphaned asks the shards of a collection until none has more.
#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class CleanupOrphanedTest : public RouterTest {
 protected:
  CleanupOrphanedTest() {
    AddSharded("db.s", R"({"_id": "hashed"})");
    AddUnsharded("db.u", ShardId{1});
    for (uint32_t i = 0; i < 3; ++i) shard(i).On("_removeOrphans", R"({"removed": 0})");
  }
};

TEST_F(CleanupOrphanedTest, UntilNoShardHasMore) {
  shard(0).Next("_removeOrphans", R"({"removed": 5, "more": true})");
  shard(0).Next("_removeOrphans", R"({"removed": 2, "more": false})");
  shard(2).Next("_removeOrphans", R"({"removed": 1, "more": false})");
  EXPECT_EQ(Fields(Run(R"({"cleanupOrphaned": "db.s", "$db": "admin"})")), R"({"removed":8})");
  EXPECT_EQ(CountsOf("_removeOrphans"), (std::vector<size_t>{2, 1, 1}));
}

TEST_F(CleanupOrphanedTest, StaleRoutesAreLookedUpAgain) {
  shard(1).Next("_removeOrphans", StaleReply());
  EXPECT_EQ(CodeOfReply(Run(R"({"cleanupOrphaned": "db.s", "$db": "admin"})")), 0);
  EXPECT_EQ(CountsOf("_removeOrphans")[1], 2u);
}

TEST_F(CleanupOrphanedTest, WhatIsNotShardedHasNone) {
  for (const std::string ns : {"db.u", "db.absent"}) {
    EXPECT_EQ(Fields(Run(R"({"cleanupOrphaned": ")" + ns + R"(", "$db": "admin"})")),
              R"({"removed":0})");
  }
  EXPECT_EQ(CountsOf("_removeOrphans"), (std::vector<size_t>{0, 0, 0}));
}

struct BadCase {
  std::string_view command;
  int code;
};

TEST_F(CleanupOrphanedTest, Errors) {
  shard(2).Next("_removeOrphans", FailedReply(MakeError(ErrorCode::kHostUnreachable, "gone")));
  const BadCase cases[] = {
      {R"({"cleanupOrphaned": "db.s", "$db": "admin"})", 6},
      {R"({"cleanupOrphaned": "db.s", "$db": "db"})", 13},
      {R"({"cleanupOrphaned": 1, "$db": "admin"})", 14},
      {R"({"cleanupOrphaned": "db", "$db": "admin"})", 73},
      {R"({"cleanupOrphaned": "db.s", "unknown": 1, "$db": "admin"})", 40415},
  };
  for (const BadCase& c : cases) EXPECT_EQ(CodeOfReply(Run(c.command)), c.code) << c.command;
}

}  // namespace
}  // namespace evenkeel::router
