// clusterStatus: shards that answer and shards that do not, shares, routers that went silent.
#include "base/bson/builder.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

constexpr std::string_view kStats =
    R"({"collections": {"$numberLong": "2"}, "documents": {"$numberLong": "10"},
        "dataBytes": {"$numberLong": "1000"}, "indexBytes": {"$numberLong": "200"},
        "lmdbBytes": {"$numberLong": "4096"}, "activeTableBytes": {"$numberLong": "30"},
        "frozenTableBytes": {"$numberLong": "12"}, "damagedDocuments": {"$numberLong": "0"}})";

class ClusterStatusTest : public AwaitTest {
 protected:
  ClusterStatusTest() {
    for (uint32_t i = 0; i < 3; ++i) shard(i).On("_shardStats", kStats);
  }
  // The catalog's answers: routers first, then assignments.
  bson::Document Status(std::string_view routers = "[]") {
    shard(0).Next("find", CursorReply(routers));
    const bson::Document equal = catalog::Assignment::Equal("default", 3).ToBson();
    shard(0).Next("find", CursorReply("[" + bson::ToCanonicalJson(equal) + "]"));
    return Run(R"({"clusterStatus": 1, "$db": "admin"})");
  }
  static bson::View Row(const bson::Document& reply, std::string_view list, std::string_view at) {
    return reply[list].AsDocument()[at].AsDocument();
  }
};

TEST_F(ClusterStatusTest, AllIsWell) {
  const bson::Document reply = Status();
  EXPECT_EQ(reply["state"].AsString(), "ok");
  EXPECT_EQ(reply["problems"].AsDocument().CountFields(), 0u);
  ASSERT_EQ(reply["shards"].AsDocument().CountFields(), 3u);
  const bson::View shard = Row(reply, "shards", "1");
  EXPECT_EQ(shard["_id"].AsString(), "shard1");
  EXPECT_EQ(shard["state"].AsString(), "up");
  EXPECT_EQ(shard["documents"].AsInt64(), 10);
  EXPECT_EQ(shard["fileBytes"].AsInt64(), 4096);
  EXPECT_EQ(shard["lagBytes"].AsInt64(), 42);
  EXPECT_EQ(shard["ranges"].AsInt64(), 1);
  EXPECT_NEAR(shard["share"].AsDouble(), 1.0 / 3, 1e-9);
}

TEST_F(ClusterStatusTest, AShardThatDoesNotAnswer) {
  shard(2).BreakNext("_shardStats", MakeError(ErrorCode::kHostUnreachable, "gone"));
  const bson::Document reply = Status();
  EXPECT_EQ(reply["state"].AsString(), "degraded");
  EXPECT_EQ(reply["problems"].AsDocument()["0"].AsString(), "shard2 does not answer: gone");
  EXPECT_EQ(Row(reply, "shards", "2")["state"].AsString(), "down");
  EXPECT_EQ(Row(reply, "shards", "0")["state"].AsString(), "up");
}

TEST_F(ClusterStatusTest, WithoutTheCatalog) {
  shard(0).BreakNext("_shardStats", MakeError(ErrorCode::kHostUnreachable, "gone"));
  const bson::Document reply = Run(R"({"clusterStatus": 1, "$db": "admin"})");
  EXPECT_EQ(reply["state"].AsString(), "degraded");
  EXPECT_EQ(reply["routers"].AsDocument().CountFields(), 1u);
  EXPECT_EQ(reply["problems"].AsDocument().CountFields(), 2u);
}

TEST_F(ClusterStatusTest, DamagedDocumentsAreAProblem) {
  std::string stats(kStats);
  stats.replace(stats.rfind("\"0\""), 3, "\"4\"");
  shard(1).On("_shardStats", stats);
  EXPECT_EQ(Status()["problems"].AsDocument()["0"].AsString(),
            "shard1 has met 4 damaged documents");
}

TEST_F(ClusterStatusTest, OtherRouters) {
  const auto row = [this](std::string_view name, absl::Duration ago) {
    bson::Builder out;
    out.Append("_id", name)
        .AppendDate("ping", absl::ToUnixMillis(wall().Now() - ago))
        .AppendDate("created", absl::ToUnixMillis(wall().Now() - absl::Hours(5)));
    return bson::ToCanonicalJson(out.Finish());
  };
  const std::string rows =
      "[" + row("here:1", absl::Seconds(4)) + "," + row("silent:1", absl::Minutes(5)) + "," +
      row("forgotten:1", absl::Hours(3)) + "," + row("127.0.0.1:27017", absl::Hours(3)) + "]";
  const bson::Document reply = Status(rows);
  ASSERT_EQ(reply["routers"].AsDocument().CountFields(), 3u);  // this one, too
  EXPECT_EQ(Row(reply, "routers", "1")["state"].AsString(), "up");
  EXPECT_EQ(Row(reply, "routers", "2")["state"].AsString(), "silent");
  EXPECT_EQ(reply["problems"].AsDocument()["0"].AsString(), "router silent:1 is silent");
}

}  // namespace
}  // namespace evenkeel::router
