// Copies a collection whose writes are closed into a new incarnation of it, spread over the shards.
#pragma once

#include <absl/status/status.h>

#include "catalog/collection.h"
#include "router/command.h"

namespace evenkeel::router::ddl {

// Reads all documents of `from` on its primary and puts them into `into`, routed by its ranges;
// then the results of retryable writes, to every shard. Repeatable. Errors: ShardKeyNotFound for a
// document that has an array in the shard key; DuplicateKey.
Awaitable<absl::Status> CopyCollection(RouterState& router, catalog::CollectionEntry from,
                                       catalog::CollectionEntry into);

}  // namespace evenkeel::router::ddl
