// Jobs that make collections sharded.
#pragma once

#include <absl/status/statusor.h>

#include "catalog/collection.h"
#include "catalog/shard_key.h"
#include "router/command.h"
#include "router/ddl/job.h"

namespace evenkeel::router::ddl {

// The job that makes a new collection, which `base` describes as an unsharded one, sharded by
// `key`.
Awaitable<absl::StatusOr<Job>> CreateShardedJob(RouterState& router, catalog::CollectionEntry base,
                                                catalog::ShardKeyPattern key);

}  // namespace evenkeel::router::ddl
