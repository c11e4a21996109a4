// Inserts: how they are split over shards, in which order, and what comes back.
#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class InsertTest : public RouterTest {
 protected:
  InsertTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"k": "hashed"})");
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On("insert", [](bson::View request) {
        bson::Builder reply;
        reply.Append("n", static_cast<int32_t>(request["documents"].AsDocument().CountFields()));
        return reply.Finish();
      });
      shard(i).On("_waitDurable", "{}");
    }
  }

  // A document for this shard.
  bson::Document On(uint32_t shard, int id) {
    bson::Builder document;
    document.Append("_id", id).Append("k", KeyOn(shard));
    return document.Finish();
  }
  // The ids that each insert request of the shard had.
  std::vector<std::vector<int>> Parts(uint32_t i) {
    std::vector<std::vector<int>> parts;
    for (const bson::Document& request : shard(i).RequestsOf("insert")) {
      std::vector<int> ids;
      for (const auto& [key, document] : request["documents"].AsDocument()) {
        ids.push_back(document.AsDocument()["_id"].AsInt32());
      }
      parts.push_back(std::move(ids));
    }
    return parts;
  }
  using Lists = std::vector<std::vector<int>>;
};

TEST_F(InsertTest, OneDocumentToAnUnshardedCollection) {
  const bson::Document reply = Run(R"({"insert": "u"})", "documents", {Json(R"({"_id": 1})")});
  EXPECT_EQ(Fields(reply), R"({"n":1})");
  EXPECT_EQ(Parts(1), Lists({{1}}));
  EXPECT_FALSE(shard(1).RequestsOf("insert")[0]["$shard"].AsDocument().Contains("e"));
  EXPECT_TRUE(shard(1).RequestsOf("_waitDurable").empty());
}

TEST_F(InsertTest, UnorderedGoesToAllShardsInOnePartEach) {
  const bson::Document reply = Run(R"({"insert": "s", "ordered": false})", "documents",
                                   {On(0, 0), On(1, 1), On(0, 2), On(2, 3), On(1, 4)});
  EXPECT_EQ(Fields(reply), R"({"n":5})");
  EXPECT_EQ(Parts(0), Lists({{0, 2}}));
  EXPECT_EQ(Parts(1), Lists({{1, 4}}));
  EXPECT_EQ(Parts(2), Lists({{3}}));
}

TEST_F(InsertTest, OrderedGoesInRunsAndWaitsForDurabilityAtTheEnd) {
  const Timestamp at = Timestamp::FromParts(7, 1);
  for (uint32_t i = 0; i < 2; ++i) {
    shard(i).On("insert", [at](bson::View request) {
      bson::Builder reply;
      reply.Append("n", static_cast<int32_t>(request["documents"].AsDocument().CountFields()));
      reply.Append("durableAt", at);
      return reply.Finish();
    });
  }
  const bson::Document reply =
      Run(R"({"insert": "s"})", "documents", {On(0, 0), On(0, 1), On(1, 2), On(0, 3)});
  EXPECT_EQ(Fields(reply), R"({"n":4})");
  EXPECT_EQ(Parts(0), Lists({{0, 1}, {3}}));
  EXPECT_EQ(Parts(1), Lists({{2}}));
  EXPECT_TRUE(shard(0).RequestsOf("insert")[0]["$shard"].AsDocument()["e"].AsBool());
  EXPECT_EQ(CountsOf("_waitDurable"), (std::vector<size_t>{1, 1, 0}));
  EXPECT_EQ(shard(0).RequestsOf("_waitDurable")[0]["_waitDurable"].AsTimestamp(), at);
}

TEST_F(InsertTest, OrderedStopsAtTheFirstErrorWithTheClientsIndex) {
  shard(1).Next("insert",
                R"({"n": 1, "writeErrors": [{"index": 1, "code": 11000, "errmsg": "dup"}]})");
  const bson::Document reply =
      Run(R"({"insert": "s"})", "documents", {On(0, 0), On(1, 1), On(1, 2), On(0, 3)});
  EXPECT_EQ(Fields(reply), R"({"n":2,"writeErrors":[{"index":2,"code":11000,"errmsg":"dup"}]})");
  EXPECT_EQ(Parts(0), Lists({{0}}));
}

TEST_F(InsertTest, UnorderedGoesOnAfterErrors) {
  shard(1).Next("insert",
                R"({"n": 0, "writeErrors": [{"index": 0, "code": 11000, "errmsg": "dup"}]})");
  const bson::Document reply =
      Run(R"({"insert": "s", "ordered": false})", "documents", {On(0, 0), On(1, 1), On(2, 2)});
  EXPECT_EQ(Fields(reply), R"({"n":2,"writeErrors":[{"index":1,"code":11000,"errmsg":"dup"}]})");
}

TEST_F(InsertTest, ABadDocumentNeverLeavesTheRouter) {
  const bson::Document reply =
      Run(R"({"insert": "s", "ordered": false})", "documents",
          {Json(R"({"_id": [1], "k": 1})"), On(1, 1), Json(R"({"_id": 2, "k": [1]})")});
  EXPECT_EQ(reply["n"].AsInt32(), 1);
  const bson::View errors = reply["writeErrors"].AsDocument();
  EXPECT_EQ(errors["0"].AsDocument()["code"].AsInt32(), 53);
  EXPECT_EQ(errors["1"].AsDocument()["code"].AsInt32(), 61);
  EXPECT_EQ(errors["1"].AsDocument()["index"].AsInt32(), 2);
}

TEST_F(InsertTest, MissingIdsAreMadeHere) {
  EXPECT_EQ(CodeOfReply(Run(R"({"insert": "u"})", "documents", {Json(R"({"a": 1})")})), 0);
  const bson::Document sent = shard(1).RequestsOf("insert")[0];
  const bson::View document = sent["documents"].AsDocument()["0"].AsDocument();
  EXPECT_EQ(document.Front().key, "_id");
}

TEST_F(InsertTest, AStalePartIsTargetedAgain) {
  shard(1).Next("insert", StaleReply());
  const bson::Document reply =
      Run(R"({"insert": "s"})", "documents", {On(0, 0), On(1, 1), On(1, 2)});
  EXPECT_EQ(Fields(reply), R"({"n":3})");
  EXPECT_EQ(Parts(0), Lists({{0}})) << "what was done is not sent again";
  EXPECT_EQ(Parts(1), Lists({{1, 2}, {1, 2}}));
}

TEST_F(InsertTest, StaleInTheMiddleOfAPartRepeatsTheRest) {
  shard(1).Next("insert",
                R"({"n": 1, "writeErrors": [{"index": 1, "code": 13388, "errmsg": "stale"}]})");
  const bson::Document reply =
      Run(R"({"insert": "u"})", "documents",
          {Json(R"({"_id": 0})"), Json(R"({"_id": 1})"), Json(R"({"_id": 2})")});
  EXPECT_EQ(Fields(reply), R"({"n":3})");
  EXPECT_EQ(Parts(1), Lists({{0, 1, 2}, {1, 2}}));
}

TEST_F(InsertTest, StatementIdsFollowTheDocuments) {
  const std::string command =
      R"({"insert": "s", "ordered": false, )" + std::string(kRetryable) + "}";
  EXPECT_EQ(CodeOfReply(Run(command, "documents", {On(1, 0), On(0, 1), On(1, 2)})), 0);
  const bson::Document asked = shard(1).RequestsOf("insert")[0];
  EXPECT_EQ(bson::ToJson(asked["$shard"].AsDocument()["s"].AsDocument()), R"({"0":0,"1":2})");
  EXPECT_EQ(asked["txnNumber"].AsInt64(), 4);
}

TEST_F(InsertTest, NothingDoneIsTheWholeCommandsError) {
  shard(1).BreakNext("insert", MakeError(ErrorCode::kOutOfDiskSpace, "full"));
  EXPECT_EQ(CodeOfReply(Run(R"({"insert": "u"})", "documents", {Json(R"({"_id": 1})")})), 14031);
}

TEST_F(InsertTest, AFailureAfterSuccessIsAWriteError) {
  shard(1).BreakNext("insert", MakeError(ErrorCode::kOutOfDiskSpace, "full"));
  const bson::Document reply =
      Run(R"({"insert": "s"})", "documents", {On(0, 0), On(1, 1), On(0, 2)});
  EXPECT_EQ(Fields(reply), R"({"n":1,"writeErrors":[{"index":1,"code":14031,"errmsg":"full"}]})");
}

TEST_F(InsertTest, ARetryableFailureOfARetryableWriteIsTheWholeCommandsError) {
  shard(1).BreakNext("insert", MakeError(ErrorCode::kHostUnreachable, "gone"));
  const bson::Document reply =
      Run(R"({"insert": "s", )" + std::string(kRetryable) + "}", "documents", {On(0, 0), On(1, 1)});
  EXPECT_EQ(CodeOfReply(reply), 6);
  EXPECT_EQ(reply["errorLabels"].AsDocument()["0"].AsString(), "RetryableWriteError");
}

TEST_F(InsertTest, CatalogCollectionsAreNotForClients) {
  EXPECT_EQ(CodeOfReply(Run(R"({"insert": "chunks", "$db": "config"})", "documents",
                            {Json(R"({"_id": 1})")})),
            13);
  EXPECT_EQ(Fields(Run(R"({"insert": "settings", "$db": "config"})", "documents",
                       {Json(R"({"_id": 1})")})),
            R"({"n":1})");
  EXPECT_EQ(shard(0).RequestsOf("insert").size(), 1u);
}

TEST_F(InsertTest, ViewsAreNotWritten) {
  AddView("db.v", "u", "[]");
  EXPECT_EQ(CodeOfReply(Run(R"({"insert": "v"})", "documents", {Json(R"({"_id": 1})")})), 166);
}

TEST_F(InsertTest, AnUnsatisfiableWriteConcernIsToldBesideTheResult) {
  const bson::Document reply =
      Run(R"({"insert": "u", "writeConcern": {"w": 3}})", "documents", {Json(R"({"_id": 1})")});
  EXPECT_EQ(reply["n"].AsInt32(), 1);
  EXPECT_EQ(reply["writeConcernError"].AsDocument()["code"].AsInt32(), 100);
}

}  // namespace
}  // namespace evenkeel::router
