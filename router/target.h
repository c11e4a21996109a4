// Which shards a statement goes to: from a filter or a document to the owners of its hash.
//
// Equality or `$in` on the hashed field of the shard key goes to the owners only, everything else
// to all shards of the collection; unsharded collections live on their primary. Pure.
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>

#include <optional>

#include "base/bson/view.h"
#include "base/types.h"
#include "catalog/routing_table.h"
#include "query/context.h"

namespace evenkeel::router {

struct Targets {
  absl::InlinedVector<ShardId, 4> shards;  // ascending, each once; at least one
  bool by_key = false;                     // the filter pins the shard key
};

// The same for the forms that need no compiled filter: unsharded collections, no filter, a plain
// equality on the key. Nothing for others.
std::optional<Targets> TargetAtOnce(const catalog::Route& route, bson::View filter,
                                    bson::View collation);

// The shards that may hold documents that `filter` matches.
//
// collation  the command's; strings compared by rules have no single hash, so they do not target.
// Errors     of the filter, when it had to be compiled; what TargetAtOnce can tell is left to the
// shard to check.
absl::StatusOr<Targets> TargetFilter(const catalog::Route& route, bson::View filter,
                                     bson::View collation, const query::QueryContext& context);

// The shard that a document belongs to. Errors: ShardKeyNotFound for an array on the key's path.
absl::StatusOr<ShardId> TargetDocument(const catalog::Route& route, bson::View document);

// All shards of the collection.
Targets TargetAll(const catalog::Route& route);

}  // namespace evenkeel::router
