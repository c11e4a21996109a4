// Runs one kind of load with several threads for a given time and collects what each operation
// took.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bench/load/histogram.h"

namespace evenkeel::bench {

enum class Operation : uint8_t {
  kPing,
  kRead,
  kUpdate,
  kInsert,
  kScan,
  kReadModifyWrite,
  kInsertMany
};
inline constexpr int kOperationCount = 7;
std::string_view NameOf(Operation operation);

// What one thread does over and over.
class Worker {
 public:
  virtual ~Worker() = default;
  // Does one operation. Errors: counted by the runner, which goes on.
  virtual absl::StatusOr<Operation> Step() = 0;
  // True when there is nothing left to do (a load of a fixed number of records).
  virtual bool Finished() const { return false; }
};

// The outcome of one run.
struct Result {
  std::string name;
  int threads = 0;
  absl::Duration elapsed;
  std::array<Histogram, kOperationCount> operations;
  uint64_t error_count = 0;
  std::string first_error;

  uint64_t Count() const;
  double PerSecond() const;
  // Mean time of the operations of this kind.
  absl::Duration Mean(Operation operation) const;
};

struct RunSpec {
  std::string name;
  int threads = 1;
  // The run ends after this time, or when all workers have finished.
  absl::Duration duration = absl::InfiniteDuration();
};

using WorkerFactory = std::function<absl::StatusOr<std::unique_ptr<Worker>>(int thread)>;

// Makes one worker per thread, starts them together and waits for all.
//
// Errors   what a factory returned: nothing has run then. Failures of single operations are in the
// result.
absl::StatusOr<Result> RunWorkers(const RunSpec& spec, const WorkerFactory& make_worker);

}  // namespace evenkeel::bench
