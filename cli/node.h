// One process of a cluster in its role, started and stopped in order: a whole cluster in one
// process, a router, or a shard.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cli/options.h"

namespace evenkeel::cli {

class Node {
 public:
  virtual ~Node() = default;
  // What the ready line says of it: "3 shards, data in ./data".
  virtual std::string Describe() const = 0;
  // What a client or a router connects to.
  virtual std::string Address() const = 0;
  // Waits for SIGTERM or SIGINT.
  virtual void WaitForSignal() = 0;
  // No new work; running work ends or is told; checkpoint; close.
  virtual absl::Status Stop() = 0;
};

// Each opens what it needs, recovers and serves. Errors: what keeps it from starting, naming the
// path or address.
absl::StatusOr<std::unique_ptr<Node>> StartCluster(const StartOptions& options);
// Waits until all shards can be reached.
absl::StatusOr<std::unique_ptr<Node>> StartRouter(const RouterStartOptions& options);
absl::StatusOr<std::unique_ptr<Node>> StartShard(const ShardStartOptions& options);

}  // namespace evenkeel::cli
