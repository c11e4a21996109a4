// The project's speed goals as one run: every goal is a ratio between two figures measured on the
// same machine, one after the other.
//
// Design: docs/performance.md.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/load/runner.h"

namespace evenkeel::bench {

struct GoalsSpec {
  std::string uri;
  std::string disk_folder;  // on the disk of the server's data
  pid_t server_pid = 0;     // 0: another machine's server, its memory is not measured
  uint64_t small_count = 100'000;
  uint64_t large_count = 1'000'000;
  absl::Duration duration = absl::Seconds(8);  // of each figure, in two halves
  int load_threads = 8;
  int load_batch = 1000;
};

// One line of the final table.
struct Goal {
  std::string name;
  std::string wanted;  // ">= 0.70"
  double measured = 0;
  std::string figures;  // what was divided by what
  bool reached = false;
};

struct GoalsOutcome {
  std::vector<Goal> goals;
  std::vector<Result> results;  // every run behind them
};

// Loads, measures and compares; prints each run when it ends. Errors: the first failed set-up step
// or operation.
absl::StatusOr<GoalsOutcome> MeasureGoals(const GoalsSpec& spec);

// The table of goals for people.
std::string TextOf(const std::vector<Goal>& goals);

// The process's anonymous memory in bytes (RssAnon). Errors: OperationFailed when /proc does not
// tell.
absl::StatusOr<uint64_t> AnonymousBytes(pid_t pid);

}  // namespace evenkeel::bench
