// Jobs that move a collection's documents: to a new incarnation of it, under another shard key or
// on other shards, which takes its name; or, of the same one, the ranges that get another owner.
// docs/moving_data.md
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>

#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "catalog/routing_table.h"
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

// Its entry and ranges: new ids, so that the old one stays readable until the last batch; the index
// that supports the shard key too. Errors: InvalidOptions for a unique index that does not begin
// with the shard key.
Awaitable<absl::StatusOr<catalog::Route>> NewIncarnation(RouterState& router,
                                                         catalog::CollectionEntry from,
                                                         Incarnation as);

// Adds the steps that drop a collection from all shards that may know it.
void AddDrop(const RouterState& router, const catalog::Route& route, std::vector<Step>* steps);

// The job for a name that has no collection yet.
Job CreateJob(RouterState& router, std::string kind, const catalog::Route& into);
// The job that copies `from` while clients go on: they are stopped for the last changes only.
Job CopyJob(RouterState& router, std::string kind, const catalog::Route& from,
            const catalog::Route& into);
// The job that gives a collection other ranges in the same way: only what gets another owner is
// copied. `id` and the two behind it were never used before.
Job MoveRangesJob(RouterState& router, const catalog::Route& from, const catalog::Assignment& next,
                  CollectionId id);

}  // namespace evenkeel::router::ddl
