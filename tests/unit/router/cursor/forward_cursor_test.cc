// A shard's cursor passed through.
#include "router/cursor/forward_cursor.h"

#include "base/status.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class ForwardCursorTest : public AwaitTest {
 protected:
  ForwardCursor cursor_{*state().cluster, ShardCursor{ShardId{1}, 40, "db.a.b"}};
};

TEST_F(ForwardCursorTest, PassesGetMoreAndItsReplyThrough) {
  shard(1).Next("getMore", CursorReply(R"([{"a": 1}])", 40, false));
  BatchRequest request;
  request.rows = 3;
  request.id = CursorId{9};
  const auto reply = Await(cursor_.Next(request, {}));
  EXPECT_EQ(bson::ToJson(*reply), R"({"cursor":{"nextBatch":[{"a":1}],"id":9,"ns":"db.c"}})");
  EXPECT_FALSE(cursor_.exhausted());
  EXPECT_EQ(bson::ToJson(shard(1).requests()[0]),
            R"({"getMore":40,"collection":"a.b","batchSize":3,"$db":"db"})");
}

TEST_F(ForwardCursorTest, EndsWithTheShardsCursor) {
  shard(1).Next("getMore", CursorReply("[]", 0, false));
  EXPECT_TRUE(Await(cursor_.Next({}, {})).ok());
  EXPECT_TRUE(cursor_.exhausted());
  AwaitVoid(cursor_.Close());
  EXPECT_TRUE(shard(1).RequestsOf("killCursors").empty());
}

TEST_F(ForwardCursorTest, AStaleShardEndsIt) {
  shard(1).Next("getMore", StaleReply());
  EXPECT_EQ(CodeOf(Await(cursor_.Next({}, {})).status()), ErrorCode::kQueryPlanKilled);
}

TEST_F(ForwardCursorTest, CloseEndsTheShardsCursorOnce) {
  shard(1).On("killCursors", "{}");
  AwaitVoid(cursor_.Close());
  AwaitVoid(cursor_.Close());
  EXPECT_EQ(shard(1).RequestsOf("killCursors").size(), 1u);
}

}  // namespace
}  // namespace evenkeel::router
