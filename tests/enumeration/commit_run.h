// One run of a transaction over several shards, from its statements to the last check, with the
// faults that an explorer chooses.
//
// A run has these parts; faults may come in all of them until the explorer's bound is used up.
//   1. A client of router 0 writes on each shard; then it commits or aborts.
//   2. While it does not know the outcome it asks again, by any router, with the recovery token.
//   3. Time passes; routers look after what is in doubt. Late requests arrive.
//   4. Everything must have ended, all shards and all answers must agree.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/enumeration/cluster.h"
#include "tests/enumeration/explorer.h"

namespace evenkeel::tests {

class CommitRun {
 public:
  struct Plan {
    std::vector<size_t> writers;  // shards, the coordinator first
    bool aborts = false;          // the client gives it up instead of committing
    bool reads = false;           // another client may read at a snapshot in between
    bool hurries = false;         // the client goes on as soon as it has been told
  };
  // What the client knows in the end.
  enum class Outcome : uint8_t { kCommitted, kAborted, kUnknown };

  static EnumeratedCluster::Image Prepare();
  CommitRun(const EnumeratedCluster::Image& image, const Plan& plan, Explorer* explorer);

  // Returns what is wrong; nothing is right.
  std::vector<std::string> Run();
  // What the client was told first.
  Outcome first_answer() const { return first_; }
  bool committed() const { return seen_.front(); }
  size_t steps() const { return steps_; }

 private:
  struct Step {
    Way way;
    std::function<void()> perform;
  };
  using FlightPtr = std::shared_ptr<Flight>;

  void Write();
  void End();
  Outcome OutcomeOf(const EnumeratedCluster::Answer& answer);
  void AskUntilKnown();
  void Recover();
  // Goes on, as the explorer chooses, until nothing moves.
  void Explore();
  std::vector<Step> Steps();
  void AddFaults(const FlightPtr& flight, std::vector<Step>* steps);
  void AddLate(std::vector<Step>* steps);
  void AddOthers(std::vector<Step>* steps);
  void DeliverLate();
  bool IsInDoubt();
  // Touched shards are those whose neighbours in time matter: only next to a step on a shard does
  // it make a difference when another one comes there.
  void Touch(size_t shard) { touched_ = {shard}; }
  bool Touches(size_t shard) const;

  std::string Ending(const std::string& command) const;
  // A find of what the write of a shard changes.
  std::string FindOf(size_t position, const std::string& more) const;
  bool Sees(size_t position, const bson::Document& reply) const;
  void BeginReader(size_t position);
  void BeginPlainReads();
  void CheckReads();
  void BeginNext();
  void CheckNext();
  void CheckEnd();
  void CheckFree();
  void Expect(bool right, const std::string& what);

  EnumeratedCluster cluster_;
  const Plan plan_;
  Explorer* const explorer_;
  std::vector<std::string> problems_;
  std::string token_;
  EnumeratedCluster::Answer answer_, early_answer_;
  Outcome first_ = Outcome::kUnknown, known_ = Outcome::kUnknown;
  std::vector<bool> seen_;  // by writer: whether the transaction's write is there
  std::vector<size_t> touched_;
  bool resolved_early_ = false, asked_early_ = false;
  EnumeratedCluster::Answer reader_;  // of a snapshot on one shard
  size_t reader_first_ = 0;
  std::vector<EnumeratedCluster::Answer> plain_reads_;
  EnumeratedCluster::Answer next_;
  size_t steps_ = 0;
};

}  // namespace evenkeel::tests
