// Cases that simpler rules of transactions get wrong, each in the order of events that breaks them.
// Shards alone: tests/unit/shard/command/transaction_commands_test.cc.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/log.h"
#include "tests/enumeration/cluster.h"

namespace evenkeel::tests {
namespace {

using Answer = EnumeratedCluster::Answer;
using State = Flight::State;

bool IsCommit(std::string_view command) {
  return command == "_prepareTransaction" || command == "_commitTransaction" ||
         command == "_applyDecision";
}
bool IsUpdate(std::string_view command) { return command == "update"; }

std::string Session(char last, int number) {
  return R"(, "$db": "db", "lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0O)" +
         std::string(1, last) + R"(w==", "subType": "04"}}}, "txnNumber": {"$numberLong": ")" +
         std::to_string(number) + R"("}, "autocommit": false)";
}
const std::string kOne = Session('A', 1), kTwo = Session('Q', 1);
const std::string kStart = R"(, "startTransaction": true)";

int64_t CodeOf(const bson::Document& reply) {
  if (reply["writeErrors"].Is(bson::Type::kArray))
    return bson::ToInt64Truncated(reply["writeErrors"].AsDocument()["0"].AsDocument()["code"]);
  return reply["code"].missing() ? 0 : bson::ToInt64Truncated(reply["code"]);
}

// Documents 0 to 19 {n: 0} in "c", sharded by _id.
class Case : public testing::Test {
 protected:
  Case() : cluster_(Disks()) {}

  static const EnumeratedCluster::Image& Disks() {
    static const auto* const image = [] {
      EXPECT_TRUE(base::ConfigureLog({.level = base::LogLevel::kError}).ok());
      std::string documents;
      for (int i = 0; i < 20; ++i)
        documents += (i > 0 ? ", " : "") + (R"({"_id": )" + std::to_string(i) + R"(, "n": 0})");
      return new EnumeratedCluster::Image(EnumeratedCluster::Prepare(
          {R"({"shardCollection": "db.c", "key": {"_id": "hashed"}, "$db": "admin"})",
           R"({"insert": "c", "$db": "db", "documents": [)" + documents + "]}"}));
    }();
    return *image;
  }

  static std::string Inc(int id) {
    return R"({"update": "c", "updates": [{"q": {"_id": )" + std::to_string(id) +
           R"(}, "u": {"$inc": {"n": 1}}}])";
  }
  static std::string End(const std::string& name, const std::string& session,
                         const std::string& token = "") {
    std::string command = "{\"" + name + "\": 1" + session + token + "}";
    return command.replace(command.find(R"("$db": "db")"), 11, R"("$db": "admin")");
  }
  // What is too much for one Settle.
  void SettleMany() {
    for (int i = 0; i < 20; ++i) cluster_.Settle();
  }
  // The shard of a document, seen by where its update goes.
  size_t ShardOf(int id) {
    cluster_.Step(IsUpdate);
    const Answer answer = cluster_.Ask(0, Inc(id) + R"(, "$db": "db"})");
    cluster_.Settle();
    const size_t shard = Waiting("update")->shard;
    cluster_.Lose(Waiting("update"));
    cluster_.Step(nullptr);
    cluster_.Settle();
    return shard;
  }
  // Documents of the shards 0, 1 and 2.
  std::vector<int> OnePerShard() {
    std::vector<int> ids(EnumeratedCluster::kShards, -1);
    for (int id = 0; id < 20; ++id) ids[ShardOf(id)] = id;
    return ids;
  }
  int64_t NumberOf(int id) {
    const bson::Document reply = cluster_.Run(
        1, R"({"find": "c", "$db": "db", "filter": {"_id": )" + std::to_string(id) + "}}");
    return bson::ToInt64Truncated(
        reply["cursor"].AsDocument()["firstBatch"].AsDocument()["0"].AsDocument()["n"]);
  }
  // The first message of this name that waits for a step.
  std::shared_ptr<Flight> Waiting(std::string_view name) {
    for (const auto& flight : cluster_.flights()) {
      if (flight->name == name && flight->state == State::kSent) return flight;
    }
    ADD_FAILURE() << "no " << name << " is on its way";
    return nullptr;
  }

  EnumeratedCluster cluster_;
};

// M9: a commit that is on its way when another router recovers the transaction comes too late.
TEST_F(Case, ACommitBehindItsRecoveryFindsNothing) {
  const std::vector<int> ids = OnePerShard();
  const bson::Document first = cluster_.Run(0, Inc(ids[1]) + kOne + kStart + "}");
  const std::string token =
      R"(, "recoveryToken": )" + bson::ToJson(first["recoveryToken"].AsDocument());
  cluster_.Step(IsCommit);
  const Answer slow = cluster_.Ask(0, End("commitTransaction", kOne, token));
  cluster_.Settle();
  const auto commit = Waiting("_commitTransaction");
  cluster_.Step(nullptr);
  commit->orphan = true;  // it stays on its way
  const bson::Document recovered = cluster_.Run(1, End("commitTransaction", kOne, token));
  EXPECT_EQ(CodeOf(recovered), 251) << bson::ToJson(recovered);
  cluster_.Deliver(commit);
  cluster_.Settle();
  EXPECT_EQ(NumberOf(ids[1]), 0);
  EXPECT_EQ(CodeOf(cluster_.Run(1, End("commitTransaction", kOne, token))), 251);
}

// M9: a shard that has lost the beginning of a transaction takes no more of it.
TEST_F(Case, ARestartBetweenTwoStatementsEndsIt) {
  const std::vector<int> ids = OnePerShard();
  EXPECT_EQ(CodeOf(cluster_.Run(0, Inc(ids[1]) + kOne + kStart + "}")), 0);
  EXPECT_EQ(CodeOf(cluster_.Run(0, Inc(ids[2]) + kOne + "}")), 0);
  cluster_.Crash(2);
  EXPECT_EQ(CodeOf(cluster_.Run(0, Inc(ids[2]) + kOne + "}")), 251);
  EXPECT_EQ(CodeOf(cluster_.Run(0, End("commitTransaction", kOne))), 251);
  EXPECT_EQ(NumberOf(ids[1]) + NumberOf(ids[2]), 0);
}

// Second round, 4: the token names the first shard that has changed something, not the first that
// was asked.
TEST_F(Case, TheTokenNamesTheFirstThatChanged) {
  const std::vector<int> ids = OnePerShard();
  std::string nothing = Inc(ids[1]);
  nothing.insert(nothing.find("},"), R"(, "n": 77)");
  const bson::Document first = cluster_.Run(0, nothing + kOne + kStart + "}");
  EXPECT_EQ(bson::ToInt64Truncated(first["n"]), 0);
  EXPECT_TRUE(first["recoveryToken"].missing());
  const bson::Document second = cluster_.Run(0, Inc(ids[2]) + kOne + "}");
  const std::string token =
      R"(, "recoveryToken": )" + bson::ToJson(second["recoveryToken"].AsDocument());
  EXPECT_NE(token.find("shard2"), std::string::npos) << token;
  // Its commit is done and its answer lost: the other router tells the truth.
  cluster_.Step(IsCommit);
  const Answer lost = cluster_.Ask(0, End("commitTransaction", kOne, token));
  cluster_.Settle();
  const auto commit = Waiting("_commitTransaction");
  cluster_.Deliver(commit);
  cluster_.Settle();
  cluster_.Sync(2);
  cluster_.Settle();
  cluster_.Lose(commit);
  cluster_.Step(nullptr);
  cluster_.Settle();
  ASSERT_TRUE(lost->has_value());
  EXPECT_NE(CodeOf(**lost), 0);
  EXPECT_EQ(CodeOf(cluster_.Run(1, End("commitTransaction", kOne, token))), 0);
  EXPECT_EQ(NumberOf(ids[2]), 1);
}

// M3: what the coordinator has served at T it does not change below T, though all votes lie lower.
TEST_F(Case, ACommitLiesAboveWhatTheCoordinatorHasServed) {
  const std::vector<int> ids = OnePerShard();
  const std::string find = R"({"find": "c", "filter": {"_id": )";
  for (const int id : {ids[1], ids[2]})
    EXPECT_EQ(CodeOf(cluster_.Run(0, Inc(id) + kOne + (id == ids[1] ? kStart : "") + "}")), 0);
  // The second router's clock is ahead of all shards'.
  const bson::Document before =
      cluster_.Run(1, find + std::to_string(ids[1]) + "}" + kTwo + kStart + "}");
  EXPECT_EQ(CodeOf(before), 0);
  EXPECT_EQ(CodeOf(cluster_.Run(0, End("commitTransaction", kOne))), 0);
  const bson::Document behind = cluster_.Run(1, find + std::to_string(ids[2]) + "}" + kTwo + "}");
  const bson::View row = behind["cursor"].AsDocument()["firstBatch"].AsDocument()["0"].AsDocument();
  EXPECT_EQ(bson::ToInt64Truncated(row["n"]), 0);
  EXPECT_EQ(NumberOf(ids[2]), 1);
}

// M6: more plain writes in line for a key than a shard takes at once do not keep its holder's
// commit out.
TEST_F(Case, WaitingWritesDoNotKeepACommitOut) {
  constexpr size_t kPadBytes = 256 << 10;
  constexpr int kWaiting = 300;
  static_assert(kPadBytes * kWaiting > shard::ShardService::kWriteBudgetBytes);
  const std::vector<int> ids = OnePerShard();
  EXPECT_EQ(CodeOf(cluster_.Run(0, Inc(ids[1]) + kOne + kStart + "}")), 0);
  std::string big = Inc(ids[1]) + R"(, "$db": "db"})";
  big.insert(big.find(R"("$inc")"), R"("$set": {"pad": ")" + std::string(kPadBytes, 'x') + "\"}, ");
  std::vector<Answer> waiting;
  for (int i = 0; i < kWaiting; ++i) waiting.push_back(cluster_.Ask(0, big));
  SettleMany();
  EXPECT_FALSE(waiting.front()->has_value());
  EXPECT_EQ(CodeOf(cluster_.Run(0, End("commitTransaction", kOne))), 0);
  SettleMany();
  int done = 0;
  std::string other;
  for (const Answer& answer : waiting) {
    if (answer->has_value() && CodeOf(**answer) == 0)
      ++done;
    else
      other = answer->has_value() ? bson::ToJson(**answer) : "no answer";
  }
  EXPECT_EQ(other, "");
  EXPECT_EQ(done, kWaiting);
  EXPECT_EQ(NumberOf(ids[1]), 1 + kWaiting);
}

}  // namespace
}  // namespace evenkeel::tests
