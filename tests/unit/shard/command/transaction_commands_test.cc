// Transactions on one shard: layers, conflicts, every order in which their ends may come, restarts
// in between.
#include "shard/command/transaction_commands.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;
using Rows = std::vector<std::string>;

const TestCollection kCollection{
    .indexes = {R"({"key": {"u": 1}, "name": "u_1", "unique": true, "sparse": true})",
                R"({"key": {"b": 1}, "name": "b_1"})"}};

// A transaction as a router drives it.
class Driver {
 public:
  Driver(ShardFixture& shard, std::string lsid, int number)
      : shard_(shard),
        id_(R"("lsid": {"id": {"$binary": {"base64": ")" + lsid +
            R"(", "subType": "04"}}}, "txnNumber": {"$numberLong": ")" + std::to_string(number) +
            R"("})") {}

  // Sees everything that was written before.
  Driver& Begin() {
    read_at_ = shard_.store().latest();
    return *this;
  }
  // It is of one statement of a client.
  Driver& OfStatement() {
    records_ = true;
    return *this;
  }
  bson::Document Statement(const std::string& name, const std::string& rest) {
    return shard_.Run(Message(name, rest));
  }
  std::future<bson::Document> StartStatement(const std::string& name, const std::string& rest) {
    return shard_.Start(Message(name, rest));
  }
  int Code(const std::string& name, const std::string& rest) {
    return CodeOf(Statement(name, rest));
  }
  Rows Find(const std::string& rest = R"("filter": {}, "sort": {"_id": 1})") {
    Rows rows;
    const bson::Document reply = Statement("find", rest);
    if (!reply["cursor"].Is(bson::Type::kObject)) return {Field(reply, "code")};
    for (const auto& [key, row] : reply["cursor"].AsDocument()["firstBatch"].AsDocument())
      rows.push_back(bson::ToJson(row.AsDocument()));
    return rows;
  }
  // The commands of its end; `rest` begins with a comma.
  bson::Document End(const std::string& name, const std::string& rest = "") {
    return shard_.Run(R"({")" + name + R"(": 1, )" + id_ + rest + "}");
  }
  std::future<bson::Document> StartEnd(const std::string& name, const std::string& rest = "") {
    return shard_.Start(R"({")" + name + R"(": 1, )" + id_ + rest + "}");
  }
  static int CodeOf(const bson::Document& reply) {
    return reply["code"].missing() ? 0 : std::stoi(Field(reply, "code"));
  }

 private:
  bson::Document Message(const std::string& name, const std::string& rest) {
    bson::Builder out(Json(kCollection.Command(name, rest)));
    out.OpenDocument("$txn").AppendFields(Json("{" + id_ + "}")).Append("readAt", read_at_);
    if (!std::exchange(started_, true)) out.Append("start", true);
    if (records_) out.Append("records", true);
    out.Close();
    return out.Finish();
  }

  ShardFixture& shard_;
  const std::string id_;
  Timestamp read_at_;
  bool started_ = false;
  bool records_ = false;
};

const std::string kOne = "AAECAwQFBgcICQoLDA0OAQ==", kTwo = "AAECAwQFBgcICQoLDA0OAg==";
const std::string kAll = R"("filter": {}, "sort": {"_id": 1})";

std::string Insert(int id, const std::string& more = "") {
  return R"("documents": [{"_id": )" + std::to_string(id) + more + "}]";
}
std::string Inc(int id) {
  return R"("updates": [{"q": {"_id": )" + std::to_string(id) + R"(}, "u": {"$inc": {"n": 1}}}])";
}

struct Bench {
  ShardFixture shard;
  Bench() {
    shard.Put(kCollection);
    shard.Insert(kCollection, {R"({"_id": 1, "n": 0})", R"({"_id": 2, "n": 0, "u": 5})"});
  }
  Driver One(int number = 1) { return Driver(shard, kOne, number).Begin(); }
  Driver Two(int number = 1) { return Driver(shard, kTwo, number).Begin(); }
  Rows Documents() { return shard.Find(kCollection, kAll); }
};

TEST(Transaction, ItsWritesAreItsOwnUntilItCommits) {
  Bench bench;
  Driver one = bench.One();
  EXPECT_EQ(one.Code("insert", Insert(3)), 0);
  EXPECT_EQ(Field(one.Statement("update", Inc(1)), "$txn.wrote"), "true");
  EXPECT_EQ(one.Code("delete", R"("deletes": [{"q": {"_id": 2}, "limit": 1}])"), 0);
  EXPECT_EQ(one.Find(), (Rows{R"({"_id":1,"n":1})", R"({"_id":3})"}));
  EXPECT_EQ(bench.Documents(), (Rows{R"({"_id":1,"n":0})", R"({"_id":2,"n":0,"u":5})"}));
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 0);
  EXPECT_EQ(bench.Documents(), (Rows{R"({"_id":1,"n":1})", R"({"_id":3})"}));
  EXPECT_EQ(bench.shard.Count(kCollection), 2);
  EXPECT_EQ(bench.shard.Validate(kCollection), "");
}

TEST(Transaction, AReadIsNotAWrite) {
  Bench bench;
  Driver one = bench.One();
  EXPECT_EQ(Field(one.Statement("find", kAll), "$txn"), "missing");
  EXPECT_EQ(
      Field(one.Statement("update", R"("updates": [{"q": {"_id": 9}, "u": {"$set": {"n": 1}}}])"),
            "$txn"),
      "missing");
}

// What becomes of a transaction is the same whether the answer was heard or not.
TEST(Transaction, EndsMayBeToldAgain) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  const bson::Document committed = one.End("_commitTransaction");
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 0);
  EXPECT_EQ(Driver::CodeOf(one.End("_abortTransaction")), 0);
  EXPECT_FALSE(one.End("_decisionOf")["committedAt"].missing());
  bench.shard.Restart();
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 0);
  EXPECT_EQ(bench.Documents()[0], R"({"_id":1,"n":1})");
  // The session goes on: the older number is nobody's any more.
  Driver next = bench.One(2);
  next.Statement("update", Inc(1));
  next.End("_commitTransaction");
  EXPECT_EQ(Driver::CodeOf(one.End("_decisionOf")), 225);
}

TEST(Transaction, AnAbortedOneCannotCommit) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  EXPECT_EQ(Driver::CodeOf(one.End("_abortTransaction")), 0);
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 251);
  EXPECT_EQ(Driver::CodeOf(one.End("_prepareTransaction", R"(, "coordinator": 0)")), 251);
  EXPECT_EQ(one.Code("update", Inc(1)), 251);
  // A statement that comes late must not open it again.
  Driver late(bench.shard, kOne, 1);
  EXPECT_EQ(late.Begin().Code("update", Inc(1)), 251);
  EXPECT_EQ(bench.Documents()[0], R"({"_id":1,"n":0})");
}

TEST(Transaction, ANewerOneEndsTheSessionsOlderOne) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  Driver two = bench.One(2);
  EXPECT_EQ(two.Code("update", Inc(1)), 0);
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 251);
  EXPECT_EQ(Driver(bench.shard, kOne, 1).Begin().Code("find", kAll), 225);
}

TEST(Transaction, ARestartEndsWhatIsNotPrepared) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  bench.shard.Restart();
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 251);
  EXPECT_EQ(bench.Documents()[0], R"({"_id":1,"n":0})");
  EXPECT_EQ(bench.shard.CodeOfRun(kCollection.Command("update", Inc(1))), 0);
}

// Votes and decisions in every order, with a restart at every step.
TEST(Prepared, EveryEndWithEveryRestart) {
  for (int restarts = 0; restarts < 8; ++restarts) {
    for (const bool commit : {true, false}) {
      SCOPED_TRACE("restarts " + std::to_string(restarts) + (commit ? " commit" : " abort"));
      Bench bench;
      Driver one = bench.One();
      one.Statement("update", Inc(1));
      one.Statement("insert", Insert(3, R"(, "u": 7)"));
      const bson::Document vote = one.End("_prepareTransaction", R"(, "coordinator": 2)");
      ASSERT_EQ(Driver::CodeOf(vote), 0);
      if (restarts & 1) bench.shard.Restart();
      // Asked again, it has still voted; it is not for anybody here to end it.
      EXPECT_EQ(Driver::CodeOf(one.End("_abortTransaction")), 0);
      const bson::Document listed = bench.shard.Run(R"({"_listPrepared": 1})");
      EXPECT_EQ(Field(listed, "prepared.0.coordinator"), "2");
      std::string decision;
      if (commit) {
        bson::Builder at;
        at.Append("commitAt", bench.shard.clock.Tick());
        decision = ", " + bson::ToJson(at.Finish()).substr(1);
        decision.pop_back();
      }
      EXPECT_EQ(Driver::CodeOf(one.End("_applyDecision", decision)), 0);
      if (restarts & 2) bench.shard.Restart();
      EXPECT_EQ(Driver::CodeOf(one.End("_applyDecision", decision)), 0);
      if (restarts & 4) bench.shard.Restart();
      const std::string first = commit ? R"({"_id":1,"n":1})" : R"({"_id":1,"n":0})";
      EXPECT_EQ(bench.Documents()[0], first);
      EXPECT_EQ(bench.shard.Count(kCollection), commit ? 3 : 2);
      EXPECT_EQ(bench.shard.Validate(kCollection), "");
      EXPECT_EQ(Field(bench.shard.Run(R"({"_listPrepared": 1})"), "prepared.0"), "missing");
      // All its keys are free.
      EXPECT_EQ(bench.shard.CodeOfRun(kCollection.Command("update", Inc(1))), 0);
      EXPECT_EQ(bench.shard.CodeOfRun(
                    kCollection.Command("delete", R"("deletes": [{"q": {"_id": 3}, "limit": 1}])")),
                0);
    }
  }
}

TEST(Prepared, ReadersWaitForTheDecision) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  one.Statement("insert", Insert(3, R"(, "b": 4)"));
  one.End("_prepareTransaction", R"(, "coordinator": 2)");
  const std::string reads[] = {R"("filter": {"_id": 1})", R"("filter": {"b": 4})", kAll,
                               R"("filter": {}, "sort": {"_id": -1}, "hint": "_id_")"};
  std::vector<std::future<bson::Document>> waiting;
  for (const std::string& rest : reads)
    waiting.push_back(bench.shard.Start(kCollection.Command("find", rest)));
  waiting.push_back(bench.shard.Start(kCollection.Command("count", R"("query": {})")));
  // What it does not concern goes on; so does a snapshot from before.
  EXPECT_EQ(bench.shard.CodeOfRun(kCollection.Command("find", R"("filter": {"_id": 2})")), 0);
  for (auto& read : waiting)
    EXPECT_EQ(read.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  EXPECT_EQ(bench.shard.CodeOfRun(kCollection.Command("find", R"("filter": {"_id": 1}, "x": 1)")),
            40415);
  bson::Builder at;
  at.Append("commitAt", bench.shard.clock.Tick());
  std::string decision = ", " + bson::ToJson(at.Finish()).substr(1);
  decision.pop_back();
  one.End("_applyDecision", decision);
  EXPECT_EQ(Field(waiting[0].get(), "cursor.firstBatch.0.n"), "1");
  EXPECT_EQ(Field(waiting[1].get(), "cursor.firstBatch.0._id"), "3");
  EXPECT_EQ(Field(waiting[2].get(), "cursor.firstBatch.2._id"), "3");
  EXPECT_EQ(Field(waiting[3].get(), "cursor.firstBatch.0._id"), "3");
  EXPECT_EQ(Field(waiting[4].get(), "n"), "3");
}

// A snapshot at or above the prepare may have to show it, one below it must not.
TEST(Prepared, SnapshotsBelowItDoNotWait) {
  Bench bench;
  Driver below = bench.Two();
  below.Statement("find", kAll);
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  one.End("_prepareTransaction", R"(, "coordinator": 2)");
  EXPECT_EQ(below.Find()[0], R"({"_id":1,"n":0})");
  Driver above(bench.shard, "AAECAwQFBgcICQoLDA0OAw==", 1);
  auto read = above.Begin().StartStatement("find", kAll);
  EXPECT_EQ(read.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  one.End("_applyDecision");
  EXPECT_EQ(Field(read.get(), "cursor.firstBatch.0.n"), "0");
}

TEST(Conflicts, TheFirstWriterWins) {
  Bench bench;
  Driver one = bench.One(), two = bench.Two();
  two.Statement("find", kAll);
  EXPECT_EQ(one.Code("update", Inc(1)), 0);
  EXPECT_EQ(two.Code("update", Inc(1)), 112);
  EXPECT_EQ(two.Code("insert", Insert(9)), 0);  // it is the router that ends it
  one.End("_commitTransaction");
  EXPECT_EQ(two.Code("update", Inc(1)), 112);  // a newer version than its snapshot
  // Removals and unique values are keys like others.
  Driver three = bench.One(2), four = bench.Two(2);
  four.Statement("find", kAll);
  EXPECT_EQ(three.Code("delete", R"("deletes": [{"q": {"_id": 2}, "limit": 1}])"), 0);
  EXPECT_EQ(four.Code("insert", Insert(10, R"(, "u": 5)")), 112);
  three.End("_commitTransaction");
  EXPECT_EQ(four.Code("update", Inc(2)), 112);
}

TEST(Conflicts, APlainWriteWaitsInLine) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  auto plain = bench.shard.Start(kCollection.Command("update", Inc(1)));
  EXPECT_EQ(plain.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  // Another transaction may not take the key before it, even when it is free.
  one.End("_abortTransaction");
  EXPECT_EQ(Field(plain.get(), "nModified"), "1");
  EXPECT_EQ(bench.Documents()[0], R"({"_id":1,"n":1})");
}

// A transaction waits for a prepared holder, then looks at versions: the next one of the same
// client must not fail because its predecessor is on its way.
TEST(Conflicts, APreparedHolderIsWaitedFor) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  one.End("_prepareTransaction", R"(, "coordinator": 2)");
  Driver two = bench.Two();
  auto update =
      two.StartStatement("update", R"("updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 9}}}])");
  EXPECT_EQ(update.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  one.End("_applyDecision");
  EXPECT_EQ(Field(update.get(), "nModified"), "1");
}

TEST(Catalog, AStepWaitsForPreparedOnesAndEndsOthers) {
  Bench bench;
  Driver prepared = bench.One(), open = bench.Two();
  prepared.Statement("update", Inc(1));
  open.Statement("update", Inc(2));
  prepared.End("_prepareTransaction", R"(, "coordinator": 2)");
  TestCollection next = kCollection;
  next.version = 2;
  auto step = bench.shard.Start(R"({"_applyCatalog": 1, "job": "x", "put": [)" + next.Entry() +
                                R"(], "drop": []})");
  EXPECT_EQ(step.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  prepared.End("_applyDecision");
  EXPECT_EQ(Driver::CodeOf(step.get()), 0);
  EXPECT_EQ(Driver::CodeOf(open.End("_commitTransaction")), 246);
  // A snapshot from before the step cannot be read any more.
  Driver late(bench.shard, "AAECAwQFBgcICQoLDA0OAw==", 1);
  EXPECT_EQ(bench.shard.Count(next), 2);
}

// The coordinator's decision stays until all have been told, over restarts.
TEST(Decisions, AreKeptUntilTheyAreForgotten) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  one.End("_commitTransaction", R"(, "participants": [1, 2])");
  for (int i = 0; i < 2; ++i) {
    const bson::Document listed = bench.shard.Run(R"({"_listPrepared": 1})");
    EXPECT_EQ(Field(listed, "decisions.0.participants.1"), "2");
    bench.shard.Restart();
  }
  // Even when the session has gone on.
  Driver next = bench.One(2);
  next.Statement("update", Inc(1));
  next.End("_commitTransaction");
  EXPECT_FALSE(one.End("_decisionOf")["committedAt"].missing());
  one.End("_forgetDecision");
  EXPECT_EQ(Field(bench.shard.Run(R"({"_listPrepared": 1})"), "decisions.0"), "missing");
}

// A key of the kind that txn::TouchKey makes.
std::string TouchOf(bool ends) {
  return R"("touch": [{"k": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODwUAAAAAAAAAAAAAAAAAAAAA", "subType": "00"}},
                       "ends": )" +
         std::string(ends ? "true}]" : "false}]");
}

TEST(Touch, IsHadByOneAtATimeAndByNobodyWhoHasNotSeenTheLast) {
  Bench bench;
  Driver one = bench.One(), two = bench.Two();
  EXPECT_EQ(Field(one.Statement("_touch", TouchOf(false)), "$txn.wrote"), "true");
  EXPECT_EQ(two.Code("_touch", TouchOf(false)), 112);
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 0);
  EXPECT_EQ(two.Code("_touch", TouchOf(false)), 112) << "it was touched after the snapshot";
  two.End("_abortTransaction");
  EXPECT_EQ(bench.Two(2).Code("_touch", TouchOf(false)), 0);
  EXPECT_EQ(bench.shard.CountRecords(storage::Table::kSessions), 1u) << "the session's newest row";
}

TEST(Touch, EndsAnotherAttemptThatIsNotPrepared) {
  Bench bench;
  Driver one = bench.One(), two = bench.Two();
  EXPECT_EQ(one.Code("_touch", TouchOf(true)), 0);
  EXPECT_EQ(two.Code("_touch", TouchOf(true)), 112) << "it begins again";
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 251);
  EXPECT_EQ(bench.Two(2).Code("_touch", TouchOf(true)), 0);
}

TEST(Touch, WaitsForAPreparedAttempt) {
  for (const bool commits : {true, false}) {
    Bench bench;
    Driver one = bench.One(), two = bench.Two();
    EXPECT_EQ(one.Code("_touch", TouchOf(true)), 0);
    const bson::Document vote = one.End("_prepareTransaction", R"(, "coordinator": 1)");
    ASSERT_EQ(Driver::CodeOf(vote), 0);
    auto waits = two.StartStatement("_touch", TouchOf(true));
    EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
    one.End("_applyDecision", commits ? R"(, "commitAt": )" + Field(vote, "preparedAt") : "");
    EXPECT_EQ(Driver::CodeOf(waits.get()), commits ? 112 : 0);
  }
}

const std::string kClient =
    R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0OAw==", "subType": "04"}}})";
std::string Client(int number) {
  return kClient + R"(, "txnNumber": {"$numberLong": ")" + std::to_string(number) + R"("})";
}
std::string FindRecord(int number) {
  return kCollection.Command("_findRecord", R"("statement": 0, )" + Client(number));
}

TEST(OwnTransaction, RecordsItsStatementWithItsWrites) {
  Bench bench;
  Driver one = bench.One().OfStatement();
  EXPECT_EQ(one.Code("update", Inc(1) + ", " + Client(3)), 0);
  EXPECT_EQ(Field(bench.shard.Run(FindRecord(3)), "found"), "false");
  const bson::Document vote = one.End("_prepareTransaction", R"(, "coordinator": 1)");
  // What is prepared may become a record.
  auto asked = bench.shard.Start(FindRecord(3));
  EXPECT_EQ(asked.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  one.End("_applyDecision", R"(, "commitAt": )" + Field(vote, "preparedAt"));
  EXPECT_EQ(Field(asked.get(), "result"), R"({"n":1,"nModified":1})");
}

TEST(OwnTransaction, OneThatEndsLateDoesNotPutTheSessionBack) {
  for (const bool prepared : {false, true}) {
    Bench bench;
    Driver one = bench.One().OfStatement();
    EXPECT_EQ(one.Code("update", Inc(1) + ", " + Client(3)), 0);
    bson::Document vote;
    if (prepared) vote = one.End("_prepareTransaction", R"(, "coordinator": 1)");
    EXPECT_EQ(bench.shard.CodeOfRun(kCollection.Command("update", Inc(2) + ", " + Client(5))), 0);
    if (prepared) {
      one.End("_applyDecision", R"(, "commitAt": )" + Field(vote, "preparedAt"));
    } else {
      one.End("_commitTransaction");
    }
    EXPECT_EQ(bench.Documents()[0], R"({"_id":1,"n":1})");
    EXPECT_EQ(Field(bench.shard.Run(FindRecord(5)), "found"), "true");
    EXPECT_EQ(bench.shard.CodeOfRun(FindRecord(3)), 225);
  }
}

TEST(OwnTransaction, LeavesNoRowOfItsOwn) {
  Bench bench;
  Driver one = bench.One().OfStatement();
  EXPECT_EQ(one.Code("insert", Insert(3)), 0);
  EXPECT_EQ(Driver::CodeOf(one.End("_commitTransaction")), 0);
  EXPECT_EQ(bench.shard.CountRecords(storage::Table::kSessions), 0u);
}

TEST(Prepared, ACommitUnderWayIsNotLeftBehind) {
  Bench bench;
  Driver one = bench.One();
  EXPECT_EQ(one.Code("insert", Insert(3)), 0);
  one.End("_prepareTransaction", R"(, "coordinator": 1)");
  bench.shard.wall.Advance(absl::Seconds(8));
  EXPECT_EQ(Driver::CodeOf(one.End("_commitUnderWay")), 0);
  bench.shard.wall.Advance(absl::Seconds(4));
  EXPECT_EQ(Field(bench.shard.Run(R"({"_listPrepared": 1})"), "prepared.0.seconds"), "4");
  one.End("_applyDecision");
  EXPECT_EQ(Driver::CodeOf(one.End("_commitUnderWay")), 0);
}

TEST(Transaction, ALongOneIsEnded) {
  Bench bench;
  Driver one = bench.One();
  one.Statement("update", Inc(1));
  bench.shard.wall.Advance(absl::Seconds(61));
  bench.shard.RunOnLoop([&]() -> Awaitable<void> {
    co_await bench.shard.service().EndOldTransactions();
    co_return;
  });
  EXPECT_EQ(one.Code("update", Inc(1)), 251);
  EXPECT_EQ(bench.shard.CodeOfRun(kCollection.Command("update", Inc(1))), 0);
}

}  // namespace
}  // namespace evenkeel::shard
