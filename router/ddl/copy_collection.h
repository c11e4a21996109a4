// Copies a collection into a new incarnation of it, on other shards or under another shard key,
// while clients go on writing to it. docs/moving_data.md
//
// The order: the shards of `from` note changes; CopyCollection; CatchUp until little is left;
// writes are closed; CatchUp to the end; then the new incarnation takes the name.
#pragma once

#include <absl/status/status.h>

#include "catalog/collection.h"
#include "router/command.h"
#include "router/ddl/check_go_on.h"

namespace evenkeel::router::ddl {

// Reads all documents of `from` on its shards and puts them into `into`, where they belong there.
// Repeatable. Errors: ShardKeyNotFound for a document that has an array in the shard key;
// DuplicateKey; those of `go_on`.
Awaitable<absl::Status> CopyCollection(RouterState& router, catalog::CollectionEntry from,
                                       catalog::CollectionEntry into, CheckGoOn go_on);

// Takes over what has changed since, round by round, until a round is short. Errors: as
// CopyCollection.
Awaitable<absl::Status> CatchUp(RouterState& router, catalog::CollectionEntry from,
                                catalog::CollectionEntry into, CheckGoOn go_on);

// The same to the end, of a collection that is closed for writes; then the results of retryable
// writes, to every shard. Errors: DuplicateKey too where the copy has fewer documents: two with one
// `_id` lay on different shards.
Awaitable<absl::Status> CatchUpToTheEnd(RouterState& router, catalog::CollectionEntry from,
                                        catalog::CollectionEntry into, CheckGoOn go_on);

}  // namespace evenkeel::router::ddl
