// Tests of upkeep: expired rows of retryable writes, idle cursors.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "shard/command/service.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using storage::Table;
using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

std::string Txn(int session, int number) {
  return R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0O)" +
         std::string(1, static_cast<char>('A' + session)) + R"(w==", "subType": "04"}}},
         "txnNumber": {"$numberLong": ")" +
         std::to_string(number) + R"("})";
}

absl::Status RunUpkeep(ShardFixture& shard, base::CancellationToken cancelled = {}) {
  absl::Status status;
  shard.RunOnLoop(
      [&]() -> Awaitable<void> { status = co_await shard.service().RunUpkeep(cancelled); });
  return status;
}

TEST(Upkeep, RemovesExpiredRows) {
  ShardFixture shard;
  const TestCollection plain;
  shard.Put(plain);
  const auto insert = [&](int session) {
    shard.Run(plain.Command("insert", R"("documents": [{"_id": )" + std::to_string(session) +
                                          "}], " + Txn(session, 1)));
  };
  for (int session = 0; session < 10; ++session) insert(session);
  ASSERT_TRUE(shard.store().Checkpoint().ok());
  shard.wall.Advance(absl::Minutes(20));
  for (int session = 10; session < 20; ++session) insert(session);
  EXPECT_TRUE(RunUpkeep(shard).ok());
  EXPECT_EQ(shard.CountRecords(Table::kSessions), 20u);
  shard.wall.Advance(absl::Minutes(11));
  EXPECT_TRUE(RunUpkeep(shard).ok());
  EXPECT_EQ(shard.CountRecords(Table::kSessions), 10u);
  shard.Restart();
  EXPECT_EQ(shard.CountRecords(Table::kSessions), 10u);
  shard.wall.Advance(absl::Minutes(31));
  EXPECT_TRUE(RunUpkeep(shard).ok());
  EXPECT_EQ(shard.CountRecords(Table::kSessions), 0u);
}

TEST(Upkeep, GoesThroughMoreRowsThanASliceTakes) {
  ShardFixture shard;
  const TestCollection plain;
  shard.Put(plain);
  std::vector<std::string> updates;
  for (int i = 0; i < 2500; ++i) {
    updates.push_back(R"({"q": {"_id": )" + std::to_string(i) +
                      R"(}, "u": {"$set": {"a": 1}}, "upsert": true})");
  }
  shard.Run(plain.Command("update", R"("updates": )" + tests::List(updates) + ", " + Txn(0, 1)));
  EXPECT_EQ(shard.CountRecords(Table::kSessions), 2500u);
  shard.wall.Advance(absl::Minutes(31));
  EXPECT_TRUE(RunUpkeep(shard).ok());
  EXPECT_EQ(shard.CountRecords(Table::kSessions), 0u);
}

TEST(Upkeep, EndsIdleCursors) {
  ShardFixture shard;
  const TestCollection plain;
  shard.Put(plain);
  shard.Insert(plain, {R"({"_id": 1})", R"({"_id": 2})", R"({"_id": 3})"});
  const std::string find = plain.Command("find", R"("batchSize": 1)");
  const std::string idle = Field(shard.Run(find), "cursor.id");
  const std::string used = Field(shard.Run(find), "cursor.id");
  const auto get_more = [&](const std::string& id) {
    return shard.CodeOfRun(R"({"getMore": {"$numberLong": ")" + id +
                           R"("}, "collection": "c", "batchSize": 1})");
  };
  shard.wall.Advance(absl::Minutes(6));
  EXPECT_EQ(get_more(used), 0);
  shard.wall.Advance(absl::Minutes(6));
  EXPECT_TRUE(RunUpkeep(shard).ok());
  EXPECT_EQ(get_more(idle), 43);
  EXPECT_EQ(get_more(used), 0);
}

TEST(Upkeep, CanBeInterrupted) {
  ShardFixture shard;
  base::CancellationSource cancelled;
  cancelled.Cancel();
  EXPECT_EQ(CodeOf(RunUpkeep(shard, cancelled.token())), ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace evenkeel::shard
