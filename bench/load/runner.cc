// Implements the runner: one thread per worker, all started together.
#include "bench/load/runner.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/thread.h"

namespace evenkeel::bench {
namespace {

// What one thread has collected.
struct Share {
  std::unique_ptr<Worker> worker;
  std::array<Histogram, kOperationCount> operations;
  uint64_t error_count = 0;
  std::string first_error;
};

void Work(Share& share, absl::Time end) {
  absl::Time before = absl::Now();
  while (before < end && !share.worker->Finished()) {
    const absl::StatusOr<Operation> operation = share.worker->Step();
    const absl::Time after = absl::Now();
    if (operation.ok()) {
      share.operations[static_cast<size_t>(*operation)].Record(after - before);
    } else if (share.error_count++ == 0) {
      share.first_error = std::string(MessageOf(operation.status()));
    }
    before = after;
  }
}

void Collect(const Share& share, Result* result) {
  for (size_t i = 0; i < kOperationCount; ++i) result->operations[i].Merge(share.operations[i]);
  result->error_count += share.error_count;
  if (result->first_error.empty()) result->first_error = share.first_error;
}

}  // namespace

std::string_view NameOf(Operation operation) {
  static constexpr std::string_view kNames[] = {
      "ping", "read", "update", "insert", "scan", "read-modify-write", "insertMany"};
  return kNames[static_cast<size_t>(operation)];
}

uint64_t Result::Count() const {
  uint64_t count = 0;
  for (const Histogram& operation : operations) count += operation.count();
  return count;
}

double Result::PerSecond() const {
  return static_cast<double>(Count()) / std::max(absl::ToDoubleSeconds(elapsed), 1e-9);
}

absl::Duration Result::Mean(Operation operation) const {
  return operations[static_cast<size_t>(operation)].Mean();
}

absl::StatusOr<Result> RunWorkers(const RunSpec& spec, const WorkerFactory& make_worker) {
  std::vector<Share> shares(static_cast<size_t>(spec.threads));
  for (int i = 0; i < spec.threads; ++i) {
    EVENKEEL_ASSIGN_OR_RETURN(shares[static_cast<size_t>(i)].worker, make_worker(i));
  }
  const absl::Time start = absl::Now();
  {
    std::vector<base::Thread> threads;
    for (Share& share : shares) {
      threads.emplace_back("bench", [&share, end = start + spec.duration] { Work(share, end); });
    }
  }
  Result result{.name = spec.name, .threads = spec.threads, .elapsed = absl::Now() - start};
  for (const Share& share : shares) Collect(share, &result);
  return result;
}

}  // namespace evenkeel::bench
