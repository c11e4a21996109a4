// A whole cluster in one process: log, stores, shard services, router, listener; started and
// stopped in order.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "cli/options.h"

namespace evenkeel::cli {

class Node {
 public:
  // Opens the data, recovers, and serves. Errors: what keeps it from starting, naming the path or
  // address.
  static absl::StatusOr<std::unique_ptr<Node>> Start(const StartOptions& options);
  ~Node();

  uint16_t port() const;
  uint32_t shard_count() const;
  // Waits for SIGTERM or SIGINT.
  void WaitForSignal();
  // No new work; running work ends or is told; checkpoint; close.
  absl::Status Stop();

 private:
  struct Parts;
  Node();
  absl::Status Boot(const StartOptions& options);
  std::unique_ptr<Parts> parts_;
};

}  // namespace evenkeel::cli
