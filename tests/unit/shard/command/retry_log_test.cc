// Tests of repeated statements: applied once, answered the same.
#include "shard/command/retry_log.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"
#include "tests/unit/shard/command/write_cases.h"

namespace evenkeel::shard {
namespace {

using tests::List;
using tests::ShardFixture;

TEST(RetryLog, ARepeatedStatementIsAppliedOnce) {
  struct Repeat {
    std::string update, expected;
    Rows after;
  };
  const Repeat cases[] = {
      {R"({"q": {"_id": 1}, "u": {"$inc": {"n": 1}}})", "n 1 m 1", {R"({"_id":1,"n":1})"}},
      {R"({"q": {"n": 0}, "u": {"$inc": {"n": 1}}})", "n 1 m 1", {R"({"_id":1,"n":1})"}},
      {R"({"q": {"_id": 1}, "u": {"$set": {"n": 0}}})", "n 1 m 0", {R"({"_id":1,"n":0})"}},
      {R"({"q": {"_id": 2}, "u": {"$inc": {"n": 1}}, "upsert": true})",
       "n 1 m 0 u0:2",
       {R"({"_id":1,"n":0})", R"({"_id":2,"n":1})"}},
      {R"({"q": {"_id": 5}, "u": {"$inc": {"n": 1}}})", "n 0 m 0", {R"({"_id":1,"n":0})"}},
  };
  for (const Repeat& c : cases) {
    ShardFixture shard;
    shard.Put(kPlain);
    shard.Insert(kPlain, {R"({"_id": 1, "n": 0})"});
    EXPECT_EQ(Update(shard, kPlain, List({c.update}), kTxn), c.expected) << c.update;
    EXPECT_EQ(Update(shard, kPlain, List({c.update}), kTxn), c.expected) << c.update;
    shard.Restart();
    EXPECT_EQ(Update(shard, kPlain, List({c.update}), kTxn), c.expected) << c.update;
    EXPECT_EQ(shard.Find(kPlain), c.after) << c.update;
  }
}

TEST(RetryLog, AHalfDoneBulkGoesOn) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, {R"({"_id": 1, "n": 0})", R"({"_id": 2, "n": 0})"});
  const std::string one = R"({"q": {"_id": 1}, "u": {"$inc": {"n": 1}}})";
  const std::string two = R"({"q": {"_id": 2}, "u": {"$inc": {"n": 1}}})";
  EXPECT_EQ(Update(shard, kPlain, List({one, two}), kTxn), "n 2 m 2");
  EXPECT_EQ(Update(shard, kPlain, List({one, two, one}), kTxn), "n 3 m 3");
  EXPECT_EQ(Update(shard, kPlain, List({two, one}), kTxn + ", " + kPlain.Shard(R"("s": [7, 2])")),
            "n 2 m 2");
  EXPECT_EQ(shard.Find(kPlain), (Rows{R"({"_id":1,"n":2})", R"({"_id":2,"n":2})"}));
}

TEST(RetryLog, ARepeatedDeleteRemovesOne) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 1})"});
  const std::string deletes = R"([{"q": {"a": 1}, "limit": 1}])";
  EXPECT_EQ(Delete(shard, kPlain, deletes, kTxn), "n 1");
  EXPECT_EQ(Delete(shard, kPlain, deletes, kTxn), "n 1");
  EXPECT_EQ(shard.Count(kPlain), 1);
}

TEST(RetryLog, ANumberNamesOneKindOfCommand) {
  ShardFixture shard;
  shard.Put(kPlain);
  shard.Insert(kPlain, {R"({"_id": 1, "a": 1})"});
  EXPECT_EQ(Delete(shard, kPlain, R"([{"q": {"a": 1}, "limit": 1}])", kTxn), "n 1");
  EXPECT_EQ(Update(shard, kPlain, R"([{"q": {"a": 1}, "u": {"$set": {"a": 2}}}])", kTxn),
            "n 0 m 0 w0:217");
  const bson::Document insert =
      shard.Run(kPlain.Command("insert", R"("documents": [{"_id": 2}], )" + kTxn));
  EXPECT_EQ(tests::Field(insert.view(), "code"), "217");
  EXPECT_EQ(shard.Count(kPlain), 0);
}

}  // namespace
}  // namespace evenkeel::shard
