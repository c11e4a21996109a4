// Drives one transaction and checks what has become of it.
#include "tests/enumeration/commit_run.h"

#include <algorithm>
#include <utility>

#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "catalog/assignment.h"

namespace evenkeel::tests {
namespace {

using State = Flight::State;
using Outcome = CommitRun::Outcome;

constexpr absl::Duration kUntilInDoubt = absl::Seconds(11);
constexpr int64_t kWriteConflict = 112;
constexpr int kRoundsMax = 6;  // more than faults can spoil

// The messages of commits; what statements and the catalog need goes through at once.
bool IsStepped(std::string_view command) {
  return command == "_prepareTransaction" || command == "_commitTransaction" ||
         command == "_applyDecision" || command == "_forgetDecision" ||
         command == "_abortTransaction" || command == "_decisionOf";
}

std::string Session(char last, int number) {
  return R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0O)" + std::string(1, last) +
         R"(w==", "subType": "04"}}}, "txnNumber": {"$numberLong": ")" + std::to_string(number) +
         R"("}, "autocommit": false)";
}
const std::string kSession = Session('A', 1), kNext = Session('A', 2), kLast = Session('A', 3);
const std::string kReader = Session('Q', 1);
const std::string kStart = R"(, "startTransaction": true)";

// The first number from `from` on whose document a shard gets.
int KeyOn(size_t shard, int from) {
  const auto ranges = catalog::Assignment::Equal("x", EnumeratedCluster::kShards);
  for (int key = from;; ++key) {
    const auto document = bson::FromJson("{\"k\": " + std::to_string(key) + "}");
    if (ranges.OwnerOf(bson::HashValue((*document)["k"])).value == shard) return key;
  }
}

std::string IdOn(size_t shard) { return std::to_string(KeyOn(shard, 1)); }
std::string NewIdOn(size_t shard) { return std::to_string(KeyOn(shard, 100)); }

// What the transaction does on its first, second, third shard: each kind of write once.
std::string WriteOn(size_t position, size_t shard) {
  switch (position) {
    case 0:
      return R"("update": "c", "updates": [{"q": {"_id": )" + IdOn(shard) +
             R"(}, "u": {"$inc": {"n": 1}}}])";
    case 1:
      return R"("insert": "c", "documents": [{"_id": )" + NewIdOn(shard) + "}]";
    default:
      return R"("delete": "c", "deletes": [{"q": {"_id": )" + IdOn(shard) + R"(}, "limit": 1}])";
  }
}

// What finds a document only if that write is there, and in the end, how many there are then.
std::string ProbeOf(size_t position, size_t shard) {
  switch (position) {
    case 0:
      return R"({"_id": )" + IdOn(shard) + R"(, "n": 1})";
    case 1:
      return R"({"_id": )" + NewIdOn(shard) + "}";
    default:
      return R"({"_id": )" + IdOn(shard) + "}";
  }
}

bool IsOk(const bson::Document& reply) {
  return !reply.view().Contains("code") && !reply.view().Contains("writeErrors");
}

int64_t CodeOf(const bson::Document& reply) {
  return IsOk(reply) ? 0 : bson::ToInt64Truncated(reply["code"]);
}

bool IsStuck(const bson::Document& reply) { return CodeOf(reply) == -1; }

bool HasLabel(const bson::Document& reply, std::string_view label) {
  const bson::Value labels = reply["errorLabels"];
  if (!labels.Is(bson::Type::kArray)) return false;
  for (const auto& [key, value] : labels.AsDocument()) {
    if (value.AsString() == label) return true;
  }
  return false;
}

std::string NameOf(const Flight& flight) {
  return flight.name + " of router" + std::to_string(flight.router) + " to shard" +
         std::to_string(flight.shard);
}

std::string ShardName(size_t shard) { return "shard" + std::to_string(shard); }

}  // namespace

EnumeratedCluster::Image CommitRun::Prepare() {
  std::string documents;
  for (size_t shard = 0; shard < EnumeratedCluster::kShards; ++shard)
    documents += (shard > 0 ? ", " : "") + (R"({"_id": )" + IdOn(shard) + R"(, "n": 0})");
  return EnumeratedCluster::Prepare(
      {R"({"shardCollection": "db.c", "key": {"_id": "hashed"}, "$db": "admin"})",
       R"({"insert": "c", "$db": "db", "documents": [)" + documents + "]}"});
}

CommitRun::CommitRun(const EnumeratedCluster::Image& image, const Plan& plan, Explorer* explorer)
    : cluster_(image), plan_(plan), explorer_(explorer) {}

void CommitRun::Expect(bool right, const std::string& what) {
  if (!right) problems_.push_back(what);
}

std::vector<std::string> CommitRun::Run() {
  Write();
  End();
  AskUntilKnown();
  Recover();
  cluster_.Step(nullptr);
  CheckReads();
  CheckNext();
  CheckEnd();
  CheckFree();
  return problems_;
}

void CommitRun::Write() {
  for (size_t i = 0; i < plan_.writers.size(); ++i) {
    const bson::Document reply =
        cluster_.Run(0, "{" + WriteOn(i, plan_.writers[i]) + R"(, "$db": "db", )" + kSession +
                            (i == 0 ? kStart : "") + "}");
    Expect(IsOk(reply) && bson::ToInt64Truncated(reply["n"]) == 1,
           "a statement has failed: " + bson::ToJson(reply));
    const bson::Value token = reply["recoveryToken"];
    if (token.Is(bson::Type::kObject))
      token_ = R"(, "recoveryToken": )" + bson::ToJson(token.AsDocument());
  }
  Expect(token_.find(ShardName(plan_.writers.front())) != std::string::npos,
         "the token does not name the first writer");
}

std::string CommitRun::Ending(const std::string& name) const {
  return "{\"" + name + R"(": 1, "$db": "admin", )" + kSession + token_ + "}";
}

void CommitRun::End() {
  cluster_.Step(IsStepped);
  answer_ = cluster_.Ask(0, Ending(plan_.aborts ? "abortTransaction" : "commitTransaction"));
  touched_ = plan_.writers;
  Explore();
  first_ = known_ = OutcomeOf(answer_);
  // Whatever drivers hear of an abort, it has been given up.
  if (plan_.aborts) known_ = Outcome::kAborted;
}

Outcome CommitRun::OutcomeOf(const EnumeratedCluster::Answer& answer) {
  if (!answer->has_value()) return Outcome::kUnknown;
  const bson::Document& reply = **answer;
  if (IsOk(reply)) return plan_.aborts ? Outcome::kAborted : Outcome::kCommitted;
  if (HasLabel(reply, "TransientTransactionError")) return Outcome::kAborted;
  Expect(HasLabel(reply, "RetryableWriteError") || plan_.aborts,
         "an answer says neither what has become of it nor that it may be asked again: " +
             bson::ToJson(reply));
  return Outcome::kUnknown;
}

void CommitRun::AskUntilKnown() {
  const auto ask = [this](size_t router) {
    answer_ = cluster_.Ask(router, Ending("commitTransaction"));
    touched_ = {plan_.writers.front()};
    Explore();
    return OutcomeOf(answer_);
  };
  for (int round = 0; known_ == Outcome::kUnknown && round < kRoundsMax; ++round) {
    size_t router = 1;
    if (cluster_.is_alive(0))
      router = 1 - explorer_->Choose({{"the client asks router1"}, {"the client asks router0"}});
    known_ = ask(router);
  }
  Expect(known_ != Outcome::kUnknown, "the client does not learn the outcome");
  if (plan_.aborts || problems_.size() > 0) return;
  // Whoever is asked afterwards says the same.
  if (asked_early_) {
    const Outcome early = OutcomeOf(early_answer_);
    Expect(early == Outcome::kUnknown || early == known_, "two commits were answered differently");
  }
}

void CommitRun::Recover() {
  for (int round = 0; round < kRoundsMax; ++round) {
    cluster_.Advance(kUntilInDoubt);
    for (size_t router = 0; router < EnumeratedCluster::kRouters; ++router) {
      if (cluster_.is_alive(router)) cluster_.BeginResolving(router);
    }
    touched_ = {0, 1, 2};
    Explore();
    if (round == 0) {
      DeliverLate();
      Explore();
    } else if (!IsInDoubt()) {
      return;
    }
  }
  Expect(false, "something stays in doubt");
}

bool CommitRun::IsInDoubt() {
  for (size_t shard = 0; shard < EnumeratedCluster::kShards; ++shard) {
    shard::ShardService& service = cluster_.shard(shard).service();
    if (!service.state()->prepared.empty() || !service.transactions().Decisions().empty())
      return true;
  }
  return false;
}

// The slowest packets of all.
void CommitRun::DeliverLate() {
  const auto flights = cluster_.flights();
  for (const auto& flight : flights) {
    if (flight->orphan && flight->state == State::kSent) cluster_.Deliver(flight);
  }
}

void CommitRun::Explore() {
  while (true) {
    cluster_.Settle();
    BeginPlainReads();
    BeginNext();
    cluster_.Settle();
    std::vector<Step> steps = Steps();
    if (steps.empty()) return;
    std::vector<Way> ways;
    for (const Step& step : steps) ways.push_back(step.way);
    steps[explorer_->Choose(ways)].perform();
    ++steps_;
  }
}

bool CommitRun::Touches(size_t shard) const {
  return std::find(touched_.begin(), touched_.end(), shard) != touched_.end();
}

// The ordinary one: replies before syncs before deliveries. Another order is a deviation, and so is
// every fault.
std::vector<CommitRun::Step> CommitRun::Steps() {
  std::vector<Step> steps;
  const auto add = [&steps](std::string name, std::function<void()> perform) {
    steps.push_back({{std::move(name), steps.empty() ? 0 : 1}, std::move(perform)});
  };
  FlightPtr next;
  for (const FlightPtr& flight : cluster_.flights()) {
    if (flight->orphan || flight->state != State::kAnswered) continue;
    if (next == nullptr) next = flight;
    add("reply of " + NameOf(*flight), [this, flight] {
      cluster_.Reply(flight);
      touched_.clear();
    });
  }
  for (size_t shard = 0; shard < EnumeratedCluster::kShards; ++shard) {
    if (cluster_.shard(shard).log.IsDurable()) continue;
    add("sync of " + ShardName(shard), [this, shard] {
      cluster_.Sync(shard);
      Touch(shard);
    });
  }
  for (const FlightPtr& flight : cluster_.flights()) {
    if (flight->orphan || flight->state != State::kSent || !IsStepped(flight->name)) continue;
    if (steps.empty()) next = flight;
    add(NameOf(*flight), [this, flight] {
      cluster_.Deliver(flight);
      Touch(flight->shard);
    });
  }
  if (steps.empty()) return steps;
  if (next != nullptr) AddFaults(next, &steps);
  AddLate(&steps);
  AddOthers(&steps);
  return steps;
}

void CommitRun::AddFaults(const FlightPtr& flight, std::vector<Step>* steps) {
  const auto add = [&](const std::string& what, std::function<void()> perform) {
    steps->push_back({{what + NameOf(*flight), 1}, [this, flight, perform = std::move(perform)] {
                        perform();
                        Touch(flight->shard);
                      }});
  };
  add("lost: ", [this, flight] { cluster_.Lose(flight); });
  if (flight->state != State::kSent) return;
  add("late: ", [this, flight] { cluster_.Delay(flight); });
  add("twice: ", [this, flight] {
    cluster_.Repeat(flight);
    cluster_.Deliver(flight);
  });
  if (flight->name != "_prepareTransaction") return;
  add("no to: ", [this, flight] { cluster_.Refuse(flight); });
}

void CommitRun::AddLate(std::vector<Step>* steps) {
  for (const FlightPtr& flight : cluster_.flights()) {
    if (!flight->orphan || flight->state != State::kSent || !Touches(flight->shard)) continue;
    steps->push_back({{"at last: " + NameOf(*flight)}, [this, flight] {
                        cluster_.Deliver(flight);
                        Touch(flight->shard);
                      }});
  }
}

void CommitRun::AddOthers(std::vector<Step>* steps) {
  const auto add = [steps](std::string name, std::function<void()> perform) {
    steps->push_back({{std::move(name), 1}, std::move(perform)});
  };
  for (size_t i = 0; i < plan_.writers.size(); ++i) {
    const size_t shard = plan_.writers[i];
    if (!Touches(shard)) continue;
    add("crash of " + ShardName(shard), [this, shard] {
      cluster_.Crash(shard);
      Touch(shard);
    });
    if (plan_.reads && reader_ == nullptr)
      add("a reader begins on " + ShardName(shard), [this, i] { BeginReader(i); });
  }
  if (cluster_.is_alive(0) && (touched_.empty() || steps_ == 0)) {
    add("death of router0", [this] { cluster_.Kill(0, false); });
    add("death of router0 and what it has sent", [this] { cluster_.Kill(0, true); });
  }
  if (touched_.empty()) return;
  if (!resolved_early_) {
    add("router1 looks after it already", [this] {
      resolved_early_ = true;
      cluster_.Advance(kUntilInDoubt);
      cluster_.BeginResolving(1);
    });
  }
  if (!asked_early_ && !plan_.aborts && next_ == nullptr) {
    add("the client asks router1 already", [this] {
      asked_early_ = true;
      early_answer_ = cluster_.Ask(1, Ending("commitTransaction"));
    });
  }
}

bool CommitRun::Sees(size_t position, const bson::Document& reply) const {
  const bool found = !reply["cursor"].AsDocument()["firstBatch"].AsDocument().empty();
  return found != (position == 2);  // what is removed is not found
}

std::string CommitRun::FindOf(size_t position, const std::string& more) const {
  return R"({"find": "c", "$db": "db", "singleBatch": true, "filter": )" +
         ProbeOf(position, plan_.writers[position]) + more + "}";
}

void CommitRun::BeginReader(size_t position) {
  reader_first_ = position;
  reader_ = cluster_.Ask(1, FindOf(position, ", " + kReader + kStart));
}

// Who reads after the client was told sees everything, now or when it is there.
void CommitRun::BeginPlainReads() {
  if (plan_.aborts || !plain_reads_.empty() || !answer_->has_value() || !IsOk(**answer_)) return;
  for (size_t i = 0; i < plan_.writers.size(); ++i)
    plain_reads_.push_back(cluster_.Ask(1, FindOf(i, "")));
}

void CommitRun::CheckReads() {
  for (size_t i = 0; i < plain_reads_.size(); ++i) {
    if (!plain_reads_[i]->has_value()) {
      Expect(false, "a read waits for ever");
    } else if (IsOk(**plain_reads_[i])) {
      Expect(Sees(i, **plain_reads_[i]), "a read after the commit does not see it");
    }
  }
  if (reader_ == nullptr) return;
  Expect(reader_->has_value(), "a snapshot waits for ever");
  // A crash ends snapshots.
  if (!reader_->has_value() || !IsOk(**reader_)) return;
  const bool first = Sees(reader_first_, **reader_);
  for (size_t i = 0; i < plan_.writers.size(); ++i) {
    if (i == reader_first_) continue;
    const bson::Document reply = cluster_.Run(1, FindOf(i, ", " + kReader));
    Expect(!IsStuck(reply), "a snapshot waits for ever");
    if (!IsOk(reply)) return;
    Expect(Sees(i, reply) == first, "a snapshot has seen half of it");
  }
}

void CommitRun::CheckEnd() {
  for (size_t router = 0; router < EnumeratedCluster::kRouters; ++router) {
    // Where the session has gone on, older ones are not answered.
    if (!cluster_.is_alive(router) || next_ != nullptr) continue;
    const bson::Document again = cluster_.Run(router, Ending("commitTransaction"));
    Expect(IsOk(again)
               ? known_ == Outcome::kCommitted
               : known_ == Outcome::kAborted && HasLabel(again, "TransientTransactionError"),
           "asked again, a router says otherwise: " + bson::ToJson(again));
    (void)cluster_.Run(router, Ending("abortTransaction"));
  }
  for (size_t i = 0; i < plan_.writers.size(); ++i) {
    const bson::Document reply = cluster_.Run(1, FindOf(i, ""));
    Expect(IsOk(reply), "a document cannot be read");
    if (IsOk(reply)) seen_.push_back(Sees(i, reply));
    Expect(!IsOk(reply) || seen_.back() == (known_ == Outcome::kCommitted),
           ShardName(plan_.writers[i]) + " does not have what the client was told");
  }
  const bool inserted = committed() && plan_.writers.size() > 1;
  const bool removed = committed() && plan_.writers.size() > 2;
  const bson::Document count = cluster_.Run(1, R"({"count": "c", "$db": "db"})");
  Expect(bson::ToInt64Truncated(count["n"]) == 3 + inserted - removed, "the counters are wrong");
}

// The client's next transaction needs what shards still hold for the one that it has just
// committed.
void CommitRun::BeginNext() {
  if (!plan_.hurries || next_ != nullptr || !answer_->has_value() || !IsOk(**answer_)) return;
  const std::string time = bson::ToJson((**answer_)["$clusterTime"].AsDocument());
  next_ = cluster_.Ask(1, R"({"delete": "c", "$db": "db", "deletes": [{"q": {"_id": )" +
                              NewIdOn(plan_.writers[1]) + R"(}, "limit": 1}], )" + kNext + kStart +
                              R"(, "$clusterTime": )" + time + "}");
}

void CommitRun::CheckNext() {
  if (next_ == nullptr) return;
  Expect(next_->has_value(), "the next transaction waits for ever");
  if (!next_->has_value()) return;
  // A crash may end it; a conflict with what its client has committed before may not.
  Expect(CodeOf(**next_) != kWriteConflict, "a client is in its own way");
  if (IsOk(**next_))
    Expect(bson::ToInt64Truncated((**next_)["n"]) == 1, "a client does not see what it has done");
  (void)cluster_.Run(1, R"({"abortTransaction": 1, "$db": "admin", )" + kNext + "}");
}

// The session goes on and may write the same documents.
void CommitRun::CheckFree() {
  bool first = true;
  for (const size_t shard : plan_.writers) {
    const bson::Document reply =
        cluster_.Run(1, R"({"update": "c", "$db": "db", "updates": [{"q": {"_id": )" + IdOn(shard) +
                            R"(}, "u": {"$inc": {"n": 1}}, "upsert": true}], )" + kLast +
                            (std::exchange(first, false) ? kStart : "") + "}");
    Expect(IsOk(reply), "the session's next transaction fails: " + bson::ToJson(reply));
  }
  const bson::Document reply =
      cluster_.Run(1, R"({"commitTransaction": 1, "$db": "admin", )" + kLast + "}");
  Expect(IsOk(reply), "the session's next commit fails: " + bson::ToJson(reply));
  // What nobody has ended is ended by its age.
  cluster_.EndOldTransactions();
  for (size_t shard = 0; shard < EnumeratedCluster::kShards; ++shard) {
    Expect(cluster_.shard(shard).service().transactions().size() == 0,
           "a transaction is still open");
    Expect(cluster_.shard(shard).service().transactions().intents().empty(), "a key is still held");
  }
  Expect(!IsInDoubt(), "the next transaction stays in doubt");
}

}  // namespace evenkeel::tests
