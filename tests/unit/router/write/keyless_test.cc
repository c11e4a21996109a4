// Choosing one document among several shards.
#include "router/write/keyless.h"

#include "base/status.h"
#include "router/shard_request.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router::write {
namespace {

class KeylessTest : public AwaitTest {
 protected:
  KeylessTest() { AddSharded("db.s", R"({"k": "hashed"})"); }

  static std::string Found(std::string_view target, std::string_view sort_key) {
    bson::Builder reply;
    reply.Append("found", true).AppendBinary("t", 0, target);
    const bson::Document key = Json("{\"k\": " + std::string(sort_key) + "}");
    reply.Append("sortKey", key["k"]);
    return bson::ToCanonicalJson(reply.Finish());
  }

  absl::StatusOr<KeylessOutcome> Run(std::string_view sort,
                                     absl::Time deadline = absl::InfiniteFuture()) {
    RouteRetry retry(state(), "db.s", {});
    auto request =
        wire::ParseRequest(MessageFrom(Json(R"({"delete": "s", "$db": "db"})")), wall().Now());
    request->deadline = deadline;
    CommandContext context{state(), *request, client(), {}, {}};
    const bson::Document order = Json(sort);
    KeylessStatement statement;
    statement.route = *Await(retry.Route());
    statement.targets = TargetAll(*statement.route);
    statement.sort = order;
    statement.make = [](const wire::ShardEnvelope& envelope) {
      bson::Builder body;
      body.Append("write", 1);
      wire::AppendEnvelope(body, envelope);
      return MakeMessage(body.Finish());
    };
    return Await(RunKeyless(context, statement));
  }
};

TEST_F(KeylessTest, TheFirstBySortOrderIsPicked) {
  shard(0).On("_choose", Found("a", "[5]"));
  shard(1).On("_choose", Found("b", "[3]"));
  shard(2).On("_choose", Found("c", "[4]"));
  shard(1).On("write", R"({"n": 1})");
  const auto outcome = Run(R"({"x": 1})");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->done);
  EXPECT_EQ(bson::ToJson(outcome->reply), R"({"n":1})");
  EXPECT_EQ(shard(1).RequestsOf("write")[0]["$shard"].AsDocument()["t"].AsBinary().bytes, "b");
}

TEST_F(KeylessTest, DescendingPicksTheLast) {
  shard(0).On("_choose", Found("a", "[5]"));
  shard(1).On("_choose", R"({"found": false})");
  shard(2).On("_choose", Found("c", "[4]"));
  shard(0).On("write", R"({"n": 1})");
  EXPECT_TRUE(Run(R"({"x": -1})")->done);
}

TEST_F(KeylessTest, StaleRoutesAndErrorsAreTheCallers) {
  for (uint32_t i = 0; i < 3; ++i) shard(i).On("_choose", R"({"found": false})");
  shard(1).Next("_choose", StaleReply());
  EXPECT_EQ(CodeOf(Run("{}").status()), ErrorCode::kStaleConfig);
  EXPECT_FALSE(Run("{}")->done);
}

TEST_F(KeylessTest, TheDeadlineEndsAnEndlessChase) {
  for (uint32_t i = 0; i < 3; ++i) {
    shard(i).On("_choose", Found("a", "[1]"));
    shard(i).On("write", [this](bson::View) {
      wall().Advance(absl::Seconds(1));
      return Json(R"({"n": 0, "missed": true})");
    });
  }
  EXPECT_EQ(CodeOf(Run("{}", wall().Now() + absl::Seconds(3)).status()),
            ErrorCode::kMaxTimeMSExpired);
}

}  // namespace
}  // namespace evenkeel::router::write
