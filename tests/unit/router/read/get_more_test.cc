// getMore and killCursors beyond what find_test.cc shows.
#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

constexpr uint32_t kExhaustAllowed = 1u << 16;  // OP_MSG's flag bit

class GetMoreTest : public RouterTest {
 protected:
  GetMoreTest() {
    AddUnsharded("db.u", ShardId{1});
    shard(1).On("find", [](bson::View) { return CursorReply(R"([{"_id": 1}])", 77); });
    shard(1).On("killCursors", "{}");
    id_ = Run(R"({"find": "u"})")["cursor"].AsDocument()["id"].AsInt64();
  }
  std::string GetMore(std::string_view collection = "u") const {
    return "{\"getMore\": {\"$numberLong\": \"" + std::to_string(id_) + "\"}, \"collection\": \"" +
           std::string(collection) + "\"}";
  }
  std::string Kill() const {
    return "{\"killCursors\": \"u\", \"cursors\": [{\"$numberLong\": \"" + std::to_string(id_) +
           "\"}]}";
  }
  int64_t id_;
};

TEST_F(GetMoreTest, AnotherCollectionsNameIsRefusedAndTheCursorLives) {
  EXPECT_EQ(CodeOfReply(Run(GetMore("other"))), 13);
  shard(1).Next("getMore", CursorReply("[]", 77, false));
  EXPECT_EQ(CodeOfReply(Run(GetMore())), 0);
}

TEST_F(GetMoreTest, AnErrorEndsTheCursorEverywhere) {
  shard(1).Next("getMore", FailedReply(MakeError(ErrorCode::kQueryPlanKilled, "dropped")));
  EXPECT_EQ(CodeOfReply(Run(GetMore())), 175);
  EXPECT_EQ(CodeOfReply(Run(GetMore())), 43);
  EXPECT_EQ(shard(1).RequestsOf("killCursors").size(), 1u);
}

TEST_F(GetMoreTest, ACursorKilledWhileItIsReadEndsAfterwards) {
  Hold(1, "getMore");
  shard(1).On("getMore", [](bson::View) { return CursorReply("[]", 77, false); });
  const auto reading = Begin(GetMore());
  Poll();
  EXPECT_EQ(CodeOfReply(Run(GetMore())), 237);
  EXPECT_EQ(Run(Kill())["cursorsKilled"].AsDocument().CountFields(), 1u);
  EXPECT_TRUE(shard(1).RequestsOf("killCursors").empty());
  Release();
  Finish(*reading);
  EXPECT_EQ(CodeOfReply(reading->reply), 0);
  EXPECT_EQ(shard(1).RequestsOf("killCursors").size(), 1u);
  EXPECT_EQ(OpenCursors(), 0u);
}

TEST_F(GetMoreTest, ExhaustStreamsUntilTheEnd) {
  shard(1).Next("getMore", CursorReply("[]", 77, false));
  shard(1).Next("getMore", CursorReply("[]", 0, false));
  const auto more = Begin(GetMore(), kExhaustAllowed);
  Finish(*more);
  EXPECT_TRUE(more->more_to_come);
  const auto last = Begin(GetMore(), kExhaustAllowed);
  Finish(*last);
  EXPECT_FALSE(last->more_to_come);
}

}  // namespace
}  // namespace evenkeel::router
