// Stages whose documents the router makes itself: $collStats, $shardedDataDistribution,
// $listClusterCatalog, $listLocalSessions ….
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "router/command.h"

namespace evenkeel::router::read {

// One use of such a stage.
struct SourceCall {
  CommandContext& context;
  std::string ns;    // the collection, or "db.$cmd.aggregate"
  bson::Value spec;  // the stage's value
};

using Source = Awaitable<absl::StatusOr<std::vector<bson::Document>>> (*)(SourceCall call);

// The maker of a stage's documents, or null when the shards or the stage itself make them.
Source FindSource(std::string_view stage);

}  // namespace evenkeel::router::read
