// What a shard still has to give away before it can be removed.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "router/command.h"

namespace evenkeel::router {

struct Holdings {
  int64_t ranges = 0;                    // of sharded collections; of new ones, if there are none
  std::vector<std::string> collections;  // unsharded ones, by name
  int64_t jobs = 0;      // DDL jobs under way, which might put something there; of any shard
  int64_t in_doubt = 0;  // transactions whose outcome it knows, or waits for

  bool empty() const { return ranges == 0 && collections.empty() && jobs == 0 && in_doubt == 0; }
  std::set<std::string> databases() const;  // of the collections
};

// As of now. Jobs that begin later are met by their record (router/ddl/job.cc). Errors: of shards
// that do not answer: what is in doubt must be asked of all of them.
Awaitable<absl::StatusOr<Holdings>> HoldingsOf(RouterState& router, ShardId shard, CallScope scope);

// Appends note, dbsToMove and collectionsToMove, as removeShard answers.
void AppendToMove(const Holdings& holdings, bson::Builder* reply);
// Appends the field `remaining`.
void AppendRemaining(const Holdings& holdings, bson::Builder* reply);

}  // namespace evenkeel::router
