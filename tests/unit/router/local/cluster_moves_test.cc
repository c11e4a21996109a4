// clusterMoves and the rows of currentOp: own moves, those of other routers, those that were left.
#include "base/bson/builder.h"
#include "router/ddl/job.h"
#include "router/ddl/job_record.h"
#include "router/ddl/move_progress.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

const std::string kOther(12, 'o');

ddl::Job MoveJob() {
  catalog::CollectionEntry from;
  from.id = CollectionId{1000};
  from.ns = "db.c";
  from.uuid = std::string(16, 'u');
  catalog::CollectionEntry into = from;
  into.id = CollectionId{1001};
  into.primary = ShardId{2};
  ddl::Job job;
  job.name = "db.c";
  job.kind = "moveCollection";
  job.steps.push_back(ddl::Step::Copying(ddl::Step::Kind::kCopy, from, into));
  job.no_return = 1;
  return job;
}

class ClusterMovesTest : public AwaitTest {
 protected:
  // The record of a move that is run by this process.
  std::string Record(std::string_view process) {
    bson::Builder record;
    const bson::Document own = ddl::RecordOf(state(), MoveJob(), false);
    for (const auto& [name, value] : own.view()) {
      if (name == "owner") {
        record.AppendObjectId(name, process);
      } else {
        record.Append(name, value);
      }
    }
    return bson::ToCanonicalJson(record.Finish());
  }
  // The row of the other router.
  std::string Other(absl::Duration ago, bool tells) {
    bson::Builder row;
    row.Append("_id", "other:1")
        .AppendObjectId("process", kOther)
        .AppendDate("ping", absl::ToUnixMillis(wall().Now() - ago))
        .OpenArray("moves");
    if (tells) {
      row.OpenDocument("0").Append("ns", "db.c").Append("phase", "cloning");
      row.Append("bytes", int64_t{77}).Close();
    }
    row.Close();
    return bson::ToCanonicalJson(row.Finish());
  }
  bson::Document Moves(const std::string& records, const std::string& routers = "") {
    shard(0).Next("find", CursorReply("[" + records + "]"));
    shard(0).Next("find", CursorReply("[" + routers + "]"));
    return Run(R"({"clusterMoves": 1, "$db": "admin"})");
  }
  static bson::View First(const bson::Document& reply) {
    return reply["moves"].AsDocument().Front().value.AsDocument();
  }
};

TEST_F(ClusterMovesTest, None) {
  EXPECT_EQ(Fields(Moves("")), R"({"moves":[],"state":"ok","problems":[]})");
}

TEST_F(ClusterMovesTest, Own) {
  const auto move = state().moves->Begin(MoveJob());
  move->Enter(ddl::MovePhase::kCloning);
  move->Copied(3, 300);
  const bson::Document reply = Moves(Record(state().process_id));
  EXPECT_EQ(reply["state"].AsString(), "ok");
  EXPECT_EQ(First(reply)["bytes"].AsInt64(), 300);
  EXPECT_EQ(First(reply)["router"].AsString(), "127.0.0.1:27017");
}

TEST_F(ClusterMovesTest, OfAnotherRouterAsItHasTold) {
  const bson::Document reply = Moves(Record(kOther), Other(absl::Seconds(4), true));
  EXPECT_EQ(reply["state"].AsString(), "ok");
  EXPECT_EQ(First(reply)["bytes"].AsInt64(), 77);
  EXPECT_EQ(First(reply)["router"].AsString(), "other:1");
}

TEST_F(ClusterMovesTest, OneThatNothingWasToldOf) {
  const bson::Document reply = Moves(Record(kOther), Other(absl::Seconds(4), false));
  EXPECT_EQ(reply["state"].AsString(), "ok");
  EXPECT_EQ(First(reply)["phase"].AsString(), "beginning");
  EXPECT_EQ(First(reply)["to"].AsString(), "shard2");
}

TEST_F(ClusterMovesTest, OneWhoseRouterIsSilentOrGone) {
  for (const std::string& routers : {Other(absl::Minutes(2), true), std::string()}) {
    const bson::Document reply = Moves(Record(kOther), routers);
    EXPECT_EQ(reply["state"].AsString(), "degraded") << routers;
    EXPECT_EQ(reply["problems"].AsDocument().CountFields(), 1u);
    EXPECT_EQ(First(reply)["ns"].AsString(), "db.c");
  }
}

TEST_F(ClusterMovesTest, OtherJobsAreNoMoves) {
  ddl::Job job;
  job.name = "db.c";
  job.kind = "create";
  const std::string record = bson::ToCanonicalJson(ddl::RecordOf(state(), job, false));
  EXPECT_EQ(Fields(Moves(record)), R"({"moves":[],"state":"ok","problems":[]})");
}

TEST_F(ClusterMovesTest, CurrentOpShowsOwnAndOthers) {
  const auto move = state().moves->Begin(MoveJob());
  move->AddTotals(10, 1000);
  move->Enter(ddl::MovePhase::kCloning);
  move->Copied(3, 300);
  bson::Builder told(move->Row().view());
  std::vector<bson::Document> others;
  others.push_back(told.Append("router", "other:1").Finish());
  state().moves->SetOthers(std::move(others));
  const bson::Document reply =
      Run(R"({"aggregate": 1, "$db": "admin", "cursor": {}, "pipeline": [{"$currentOp": {}},
          {"$match": {"originatingCommand.moveCollection": "db.c"}}, {"$sort": {"host": 1}}]})");
  const bson::View rows = reply["cursor"].AsDocument()["firstBatch"].AsDocument();
  ASSERT_EQ(rows.CountFields(), 2u) << bson::ToJson(reply);
  const bson::View own = rows["0"].AsDocument(), other = rows["1"].AsDocument();
  EXPECT_EQ(own["host"].AsString(), "127.0.0.1:27017");
  EXPECT_EQ(other["host"].AsString(), "other:1");
  EXPECT_EQ(own["desc"].AsString(),
            "ReshardingMetricsRecipientService 75757575-7575-7575-7575-757575757575");
  EXPECT_EQ(own["ns"].AsString(), "db.c");
  EXPECT_EQ(own["approxDocumentsToCopy"].AsInt64(), 10);
  EXPECT_EQ(own["documentsCopied"].AsInt64(), 3);
  EXPECT_EQ(own["bytesCopied"].AsInt64(), 300);
  EXPECT_EQ(own["remainingOperationTimeEstimatedSecs"].AsInt64(), -1);
  EXPECT_EQ(own["recipientState"].AsString(), "cloning");
}

}  // namespace
}  // namespace evenkeel::router
