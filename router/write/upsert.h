// Upserts whose new document is made at the router, because its place is not known before.
#pragma once

#include <absl/status/statusor.h>

#include "query/match/filter.h"
#include "query/update/update.h"
#include "router/command.h"
#include "router/retry.h"
#include "router/write/results.h"

namespace evenkeel::router::write {

// What an upsert is made of. Views point into the client's message.
struct UpsertParts {
  bson::View filter, let;
  bson::Value update;
  bson::View array_filters;
  bson::View constants = {};  // of an update by a pipeline
};

// The document that the upsert inserts when nothing matches. Each call makes a new `_id` where
// neither filter nor update gives one. Errors: of filter and update; BSONObjectTooLarge.
absl::StatusOr<bson::Document> BuildUpsertDocument(const RouterState& router,
                                                   const wire::CommandTimes& times,
                                                   const catalog::Route& route,
                                                   const UpsertParts& parts);

// True when the new document surely has the value of the hashed shard key that the filter pins: the
// filter names it by plain equality and the update does not touch it.
bool KeepsShardKey(const catalog::Route& route, const UpsertParts& parts);

// Inserts `document` on the shard of its key, recorded as an upsert of this statement. Returns the
// shard's reply to the update. Errors: StaleConfig when nothing was done; DuplicateKey; the
// shard's.
Awaitable<absl::StatusOr<bson::Document>> InsertUpsert(CommandContext& context, RoutePtr route,
                                                       bson::View document,
                                                       std::optional<int32_t> retryable_id);

}  // namespace evenkeel::router::write
