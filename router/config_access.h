// Reads and changes documents of the `config` database on shard 0 for the router's own commands.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "router/command.h"

namespace evenkeel::router {

// All documents of config.<collection> that match, in `_id` order.
Awaitable<absl::StatusOr<std::vector<bson::Document>>> ReadConfig(RouterState& router,
                                                                  std::string_view collection,
                                                                  bson::Document filter,
                                                                  CallScope scope);

// Changes one document of config.<collection>, which is made when it is absent. Errors: of the
// shard.
Awaitable<absl::Status> UpsertConfig(RouterState& router, std::string_view collection,
                                     bson::Document query, bson::Document update, CallScope scope);

// {_id: value}.
bson::Document ById(std::string_view id);

// The filter for the entries of config.catalog that belong to one database.
bson::Document OfDatabase(std::string_view database);

}  // namespace evenkeel::router
