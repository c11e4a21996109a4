// Finds out which other collections of a pipeline the shards can read by themselves.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "base/bson/view.h"
#include "catalog/routing_table.h"
#include "query/stage/pipeline.h"
#include "router/command.h"
#include "wire/protocol/foreign_collections.h"

namespace evenkeel::router::read {

// Lets stages of an optimised pipeline over `route` run on the shards where that gives the same.
//
// collation  the pipeline's: the command's, else the collection's.
// Returns    the collections that the shards have to be told of.
// Suspends   where a route has to be looked up.
Awaitable<absl::StatusOr<std::vector<wire::ForeignCollection>>> JoinOnShards(
    CommandContext& context, const catalog::Route& route, bson::View collation,
    query::Pipeline& pipeline);

// Forgets their routes when an attempt with them has met StaleConfig.
void ForgetIfStale(const CommandContext& context, const absl::Status& status,
                   const std::vector<wire::ForeignCollection>& foreign);

}  // namespace evenkeel::router::read
