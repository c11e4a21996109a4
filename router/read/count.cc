// count: passed through to one shard, or summed over several.
#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/match/filter.h"
#include "query/request/count_request.h"
#include "router/query_context.h"
#include "router/read/read.h"
#include "router/read/view.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router::read {
namespace {

bson::Document CountReply(int64_t n) {
  bson::Builder reply;
  if (n <= INT32_MAX) {
    reply.Append("n", static_cast<int32_t>(n));
  } else {
    reply.Append("n", n);
  }
  return reply.Finish();
}

// Each shard counts up to skip + limit; the router takes the skipped ones off.
wire::Message ScatteredCount(const CommandContext& context, const catalog::Route& route,
                             const query::CountRequest& count) {
  bson::Builder body =
      StartCommand("count", route.entry->name(), route.entry->database(), &context.request);
  AppendFieldsExcept(body, context.body(), {"skip", "limit"});
  int64_t limit = 0;
  if (count.limit > 0 && !__builtin_add_overflow(count.limit, count.skip, &limit)) {
    body.Append("limit", limit);
  }
  wire::AppendEnvelope(body, EnvelopeOf(route, context.times));
  return MakeMessage(body.Finish());
}

Awaitable<CommandResult> CountOnMany(CommandContext& context, RoutePtr route,
                                     const query::CountRequest& count, Targets targets) {
  const wire::Message message = ScatteredCount(context, *route, count);
  std::vector<ShardCall> calls;
  for (const ShardId shard : targets.shards) calls.push_back({shard, message});
  const auto replies = co_await context.router.cluster->SendAll(std::move(calls), context.scope());
  int64_t sum = 0;
  for (const auto& reply : replies) {
    if (!reply.ok()) co_return reply.status();
    const bson::Value n = reply->body["n"];
    if (n.IsNumber()) sum += bson::ToInt64Truncated(n);
  }
  sum = std::max<int64_t>(0, sum - count.skip);
  if (count.limit > 0) sum = std::min(sum, count.limit);
  co_return CountReply(sum);
}

Awaitable<CommandResult> CountOnOne(CommandContext& context, RoutePtr route, ShardId shard) {
  ShardCall call{shard, ForwardCommand(context.request, EnvelopeOf(*route, context.times))};
  const auto reply = co_await context.router.cluster->Send(std::move(call), context.scope());
  if (!reply.ok()) co_return reply.status();
  co_return ReplyFields(reply->body);
}

}  // namespace

Awaitable<CommandResult> CountCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::CountRequest count, query::ParseCount(context.body()));
  RouteRetry retry(context.router, ns, context.scope());
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    if (!route) {
      const auto query_context = MakeQueryContext(context.router, context.times, ns);
      EVENKEEL_CO_RETURN_IF_ERROR(query::Filter::Parse(count.query, *query_context).status());
      co_return CountReply(0);
    }
    if (route->entry->kind == catalog::CollectionKind::kView) {
      co_return co_await CountOnView(context, route, count);
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        Targets targets,
        TargetStatement(context.router, context.times, *route, count.query, count.collation, {}));
    CommandResult result;
    if (targets.shards.size() == 1) {
      result = co_await CountOnOne(context, route, targets.shards[0]);
    } else {
      result = co_await CountOnMany(context, route, count, std::move(targets));
    }
    if (!retry.IsStale(result.status())) co_return result;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

}  // namespace evenkeel::router::read
