// What the start and the end of every role have in common.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <memory>
#include <utility>

#include "cli/node.h"

namespace evenkeel::cli {

// How long running work may go on after a signal.
inline constexpr absl::Duration kStopTime = absl::Seconds(10);

// Boots a node; what has started of one that cannot boot ends in order.
template <typename T>
absl::StatusOr<std::unique_ptr<Node>> Booted(std::unique_ptr<T> node) {
  const absl::Status status = node->Boot();
  if (status.ok()) return node;
  (void)node->Stop();
  return status;
}

}  // namespace evenkeel::cli
