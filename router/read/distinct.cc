// distinct: passed through to one shard, or united over several.
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "query/match/filter.h"
#include "query/request/distinct_request.h"
#include "router/query_context.h"
#include "router/read/distinct_values.h"
#include "router/read/read.h"
#include "router/read/view.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router::read {
namespace {

Awaitable<CommandResult> DistinctOnShards(CommandContext& context, RoutePtr route, Targets targets,
                                          bson::View own_collation) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const query::Collation* collation,
      query::Collation::ForCommand(own_collation, query::CollationOption(route->entry->options)));
  const wire::Message message = ForwardCommand(context.request, EnvelopeOf(*route, context.times));
  std::vector<ShardCall> calls;
  for (const ShardId shard : targets.shards) calls.push_back({shard, message});
  const auto replies = co_await context.router.cluster->SendAll(std::move(calls), context.scope());
  DistinctValues values(collation);
  for (const auto& reply : replies) {
    if (!reply.ok()) co_return reply.status();
    const bson::Value list = reply->body["values"];
    if (!list.Is(bson::Type::kArray)) {
      co_return MakeError(ErrorCode::kInternalError, "a shard's reply to distinct lacks values");
    }
    if (replies.size() == 1) co_return ReplyFields(reply->body);
    for (const auto& element : list.AsDocument()) values.Add(element.value);
  }
  co_return values.Reply();
}

}  // namespace

Awaitable<CommandResult> DistinctCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::DistinctRequest distinct,
                               query::ParseDistinct(context.body()));
  RouteRetry retry(context.router, ns, context.scope());
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    if (!route) {
      const auto query_context = MakeQueryContext(context.router, context.times, ns);
      EVENKEEL_CO_RETURN_IF_ERROR(query::Filter::Parse(distinct.query, *query_context).status());
      co_return DistinctValues().Reply();
    }
    if (route->entry->kind == catalog::CollectionKind::kView) {
      co_return co_await DistinctOnView(context, route, distinct);
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        Targets targets, TargetStatement(context.router, context.times, *route, distinct.query,
                                         distinct.collation, {}));
    CommandResult result =
        co_await DistinctOnShards(context, route, std::move(targets), distinct.collation);
    if (!retry.IsStale(result.status())) co_return result;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

}  // namespace evenkeel::router::read
