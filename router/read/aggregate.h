// Pipelines over collections, views, and sources of the router itself; also what reads on views
// become.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bson/document.h"
#include "query/request/aggregate_request.h"
#include "router/cursor/cursors.h"
#include "router/retry.h"

namespace evenkeel::router::read {

// One aggregation, independent of the command that asked for it. Views point into the client's
// message.
struct AggregateCall {
  std::string ns;           // what is read: a collection or view; "db.$cmd.aggregate" for none
  std::string ns_shown;     // in the cursor
  bson::Document pipeline;  // an array
  bson::View let;
  bson::Document collation;  // with the collection's or view's where the command has none
  bson::Value hint;          // missing if none
  std::optional<bool> allow_disk_use;
  std::optional<int64_t> batch_size;
  bool by_id = false;  // rows that come one by one are wanted in the order of `_id`
  int depth = 0;       // how many pipelines it is within
};

// A cursor over the results. Retries stale routes; resolves views.
Awaitable<absl::StatusOr<std::unique_ptr<ClientCursor>>> OpenAggregate(CommandContext& context,
                                                                       AggregateCall call);
// The whole results in memory. Limits: limits::kDocumentBytesMax in all, else BSONObjectTooLarge.
Awaitable<absl::StatusOr<std::vector<bson::Document>>> CollectAggregate(CommandContext& context,
                                                                        AggregateCall call);

// Follows one step of a view: the call on what it is defined on. Errors: InternalError for a
// damaged view.
absl::StatusOr<AggregateCall> ResolveView(const catalog::CollectionEntry& view, AggregateCall call);

}  // namespace evenkeel::router::read
