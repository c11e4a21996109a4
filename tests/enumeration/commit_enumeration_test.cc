// Commits over several shards under every fault and every pair of faults, at every message and at
// every durable step: whatever happens, all agree in the end.
//
// EVENKEEL_ENUMERATION=N adds N to the bounds: ./dev enumerate.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "base/fail_point.h"
#include "base/log.h"
#include "tests/enumeration/commit_run.h"

namespace evenkeel::tests {
namespace {

using Outcome = CommitRun::Outcome;

const EnumeratedCluster::Image& Disks() {
  static const auto* const image = [] {
    // Every run would tell of its broken connections.
    EXPECT_TRUE(base::ConfigureLog({.level = base::LogLevel::kError}).ok());
    return new EnumeratedCluster::Image(CommitRun::Prepare());
  }();
  return *image;
}

int MoreDeviations() {
  const char* const more = std::getenv("EVENKEEL_ENUMERATION");
  return more == nullptr ? 0 : std::atoi(more);
}

struct Found {
  int runs = 0;
  std::map<Outcome, int> answers;  // the first ones, by what they say
  int committed = 0;
  size_t steps = 0;
  std::string problem;  // of the first run that is wrong
};

Found Enumerate(const CommitRun::Plan& plan, int deviations_max) {
  Explorer explorer(deviations_max);
  Found found;
  while (found.problem.empty() && explorer.Next()) {
    base::fail_points::txn_participant_vote_abort.Set(base::FailPointMode::Off());
    CommitRun run(Disks(), plan, &explorer);
    const auto problems = run.Run();
    ++found.answers[run.first_answer()];
    if (problems.empty()) found.committed += run.committed();
    found.steps += run.steps();
    for (const std::string& problem : problems) found.problem += problem + "\n";
    if (!problems.empty()) found.problem += explorer.Path();
  }
  found.runs = explorer.runs();
  std::printf("%d runs, %zu steps: %d told committed, %d aborted, %d nothing; %d committed\n",
              found.runs, found.steps, found.answers[Outcome::kCommitted],
              found.answers[Outcome::kAborted], found.answers[Outcome::kUnknown], found.committed);
  return found;
}

void ExpectRight(const Found& found) { EXPECT_EQ(found.problem, ""); }

TEST(CommitEnumeration, TwoShards) {
  ExpectRight(Enumerate({.writers = {1, 2}, .reads = true}, 2 + MoreDeviations()));
}

TEST(CommitEnumeration, ThreeShards) {
  ExpectRight(Enumerate({.writers = {1, 2, 0}, .reads = true}, 1 + MoreDeviations()));
}

// A client that goes on at once, while shards still hold its documents.
TEST(CommitEnumeration, TwoInARow) {
  ExpectRight(Enumerate({.writers = {1, 2}, .hurries = true}, 1 + MoreDeviations()));
}

TEST(CommitEnumeration, OneShard) {
  ExpectRight(Enumerate({.writers = {1}}, 2 + MoreDeviations()));
}

TEST(CommitEnumeration, AbortOfTwoShards) {
  ExpectRight(Enumerate({.writers = {1, 2}, .aborts = true}, 2 + MoreDeviations()));
}

// Broken promises are found.
TEST(CommitEnumeration, PlantedFaultsAreFound) {
  for (const char* name : {"txn_plant_no_prepare", "txn_plant_no_tick", "txn_plant_early_answer"}) {
    SCOPED_TRACE(name);
    const base::ScopedFailPoint planted(*base::FindFailPoint(name), base::FailPointMode::Always());
    const Found found = Enumerate({.writers = {1, 2}, .reads = true}, 1);
    EXPECT_NE(found.problem, "");
  }
}

}  // namespace
}  // namespace evenkeel::tests
