// Commits that take their time.
#include "router/transaction/commit.h"

#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class CommitTest : public AwaitTest {
 protected:
  CommitTest() {
    for (uint32_t i = 0; i < 3; ++i) shard(i).On("_commitUnderWay", "{}");
  }
  // One that has written on two shards.
  static std::shared_ptr<ClientTransaction> Writing() {
    auto transaction =
        std::make_shared<ClientTransaction>(std::string(16, 'a'), TxnNumber{1}, Timestamp{});
    for (const uint32_t shard : {1u, 2u})
      transaction->Note(ShardId{shard}, Json(R"({"$txn": {"wrote": true}})"));
    return transaction;
  }
};

TEST_F(CommitTest, WritersHearThatItIsUnderWayUntilItIsOver) {
  base::CancellationSource over;
  size_t heard = 0;
  shard(2).On("_commitUnderWay", [&](bson::View) {
    if (++heard == 3) over.Cancel();
    return Json("{}");
  });
  AwaitVoid(TellUnderWay(state(), Writing(), absl::Milliseconds(1), over.token()));
  EXPECT_EQ(CountsOf("_commitUnderWay"), (std::vector<size_t>{0, 3, 3}));
}

}  // namespace
}  // namespace evenkeel::router
