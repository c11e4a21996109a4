// The log line of slow requests.
#include "router/operation_trace.h"

#include <gmock/gmock.h>

#include "base/log.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OperationTraceTest : public AwaitTest {
 protected:
  // The last line, if it was logged since `total`.
  static std::string LastLineSince(uint64_t total) {
    return base::TotalLogLines() > total ? base::RecentLogLines().back() : "";
  }
};

TEST_F(OperationTraceTest, SaysWhatShardsHaveTold) {
  state().slow_ms = 0;
  AddSharded("db.s", R"({"k": "hashed"})");
  for (uint32_t i = 0; i < 3; ++i) {
    shard(i).On("count",
                R"({"n": 4, "$stats": {"plan": "IXSCAN { a: 1 }", "keys": 7, "docs": 5}})");
  }
  const uint64_t before = base::TotalLogLines();
  const bson::Document reply = Run(R"({"count": "s", "query": {"a": 1}})");
  EXPECT_FALSE(reply.view().Contains("$stats"));
  EXPECT_THAT(LastLineSince(before),
              AllOf(HasSubstr("slow operation"), HasSubstr("ns=db.s"),
                    HasSubstr(R"(plan="SHARD_MERGE IXSCAN { a: 1 }")"),
                    HasSubstr("shards=shard0,shard1,shard2"), HasSubstr("keysExamined=21"),
                    HasSubstr("docsExamined=15"), HasSubstr("nreturned=12"),
                    HasSubstr("outcome=OK"), Not(HasSubstr("request=none"))));
}

TEST_F(OperationTraceTest, SaysHowItFailed) {
  state().slow_ms = 0;
  const uint64_t before = base::TotalLogLines();
  (void)Run(R"({"find": ""})");
  EXPECT_THAT(LastLineSince(before), HasSubstr("outcome=InvalidNamespace"));
}

TEST_F(OperationTraceTest, LeavesQuickOnesOutAndWaitingForNews) {
  const uint64_t before = base::TotalLogLines();
  (void)Run(R"({"ping": 1})");
  state().slow_ms = 0;
  (void)Run(R"({"hello": 1})");
  EXPECT_EQ(LastLineSince(before), "");
}

TEST_F(OperationTraceTest, ShardsAreNotedOnce) {
  OperationTrace trace(5);
  trace.Note(ShardId{2}, Json("{}"));
  trace.Note(ShardId{2}, Json(R"({"$stats": {"plan": "COLLSCAN", "keys": 0, "docs": 2}})"));
  trace.Note(ShardId{1}, Json(R"({"$stats": {"plan": "IDHACK", "keys": 1, "docs": 1}})"));
  EXPECT_EQ(trace.shards.size(), 2u);
  EXPECT_EQ(trace.plan, "COLLSCAN");
  EXPECT_EQ(trace.docs_examined, 3);
}

}  // namespace
}  // namespace evenkeel::router
