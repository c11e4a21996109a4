// cleanupOrphaned: removes what the shards of a collection hold and do not own. MongoDB has it on
// shards only, where clients of a cluster do not come.
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/ddl/ddl.h"
#include "router/retry.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router::ddl {
namespace {

// Of MongoDB's command on a shard, where a call removes one range; here each removes all of them.
constexpr query::FieldRule kFields[] = {{"startingFromKey"}};

// On all shards of the collection at once, slice by slice, until nothing is left. Errors:
// StaleConfig.
Awaitable<absl::StatusOr<int64_t>> RemoveOrphans(RouterState& router, RoutePtr route,
                                                 CallScope scope) {
  // Those that own nothing of it any more, too.
  std::vector<ShardId> left = router.cluster->AllShards();
  int64_t removed = 0;
  while (!left.empty()) {
    std::vector<ShardCall> calls;
    for (const ShardId shard : left) {
      bson::Builder body;
      body.Append("_removeOrphans", int32_t{1});
      wire::AppendEnvelope(body, EnvelopeOf(*route));
      calls.push_back({shard, MakeMessage(body.Finish())});
    }
    const auto replies = co_await router.cluster->SendAll(std::move(calls), scope);
    std::vector<ShardId> more;
    for (size_t i = 0; i < replies.size(); ++i) {
      EVENKEEL_CO_RETURN_IF_ERROR(replies[i].status());
      const bson::View reply = replies[i]->body;
      removed += bson::ToInt64Truncated(reply["removed"]);
      if (bson::Truthy(reply["more"])) more.push_back(left[i]);
    }
    left = std::move(more);
  }
  co_return removed;
}

bson::Document Removed(int64_t documents) {
  bson::Builder reply;
  reply.Append("removed", documents);
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> CleanupOrphanedCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(context.body(), "cleanupOrphaned",
                                                query::FieldScope::kCommand, kFields, nullptr));
  const bson::Value argument = context.request.argument;
  if (!argument.Is(bson::Type::kString)) {
    co_return query::WrongType("cleanupOrphaned", "cleanupOrphaned", argument, "string");
  }
  const std::string ns(argument.AsString());
  const auto [database, collection] = catalog::SplitNamespace(ns);
  EVENKEEL_CO_RETURN_IF_ERROR(catalog::CheckCollectionName(database, collection));
  RouteRetry retry(context.router, ns, context.scope());
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    // Only a sharded collection can have any.
    if (!route || !route->entry->sharded()) co_return Removed(0);
    const auto removed = co_await RemoveOrphans(context.router, route, context.scope());
    if (removed.ok()) co_return Removed(*removed);
    if (!retry.IsStale(removed.status())) co_return removed.status();
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

}  // namespace evenkeel::router::ddl
