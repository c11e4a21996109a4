// Jobs that give a collection's name to a new incarnation of it: under another shard key, on other
// shards. docs/moving_data.md
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>

#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "catalog/shard_key.h"
#include "router/command.h"
#include "router/ddl/job.h"

namespace evenkeel::router::ddl {

// What the new incarnation is.
struct Incarnation {
  std::optional<catalog::ShardKeyPattern> shard_key;  // nothing: unsharded
  ShardId primary;                                    // of an unsharded one
  std::string job;  // the command that copies into it, until it is complete; empty: none does
};

// Its entry: new ids, so that the old one stays readable until the last batch; the index that
// supports the shard key too. Errors: InvalidOptions for a unique index that does not begin with
// the shard key.
Awaitable<absl::StatusOr<catalog::CollectionEntry>> NewIncarnation(RouterState& router,
                                                                   catalog::CollectionEntry from,
                                                                   Incarnation as);

// The job for a name that has no collection yet.
Job CreateJob(RouterState& router, std::string kind, const catalog::CollectionEntry& into,
              const catalog::Assignment& ranges);
// The job that copies `from` while clients go on: they are stopped for the last changes only.
Job CopyJob(RouterState& router, std::string kind, const catalog::CollectionEntry& from,
            const catalog::CollectionEntry& into, const catalog::Assignment& ranges);

}  // namespace evenkeel::router::ddl
