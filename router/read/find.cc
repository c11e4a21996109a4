// find: passed through to one shard, or merged from several.
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/project/projection.h"
#include "query/request/find_request.h"
#include "router/query_context.h"
#include "router/read/read.h"
#include "router/read/scatter.h"
#include "router/read/view.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router::read {
namespace {

FirstBatch FirstBatchOf(const query::FindRequest& find) {
  FirstBatch first;
  if (find.batch_size) first.rows = find.batch_size;
  first.single = find.single_batch;
  first.no_timeout = find.no_cursor_timeout;
  return first;
}

// A collection that does not exist has no documents, but a bad query is still an error.
absl::Status CheckQuery(const query::FindRequest& find, const query::QueryContext& context) {
  EVENKEEL_RETURN_IF_ERROR(query::Filter::Parse(find.filter, context).status());
  EVENKEEL_RETURN_IF_ERROR(query::SortPattern::Parse(find.sort).status());
  if (find.projection.empty()) return absl::OkStatus();
  return query::Projection::Parse(find.projection, query::ProjectionKind::kFind, context).status();
}

// What each of several shards is asked: skipping is the router's work.
wire::Message ScatteredFind(const CommandContext& context, const catalog::Route& route,
                            const query::FindRequest& find, int64_t limit) {
  bson::Builder body =
      StartCommand("find", route.entry->name(), route.entry->database(), &context.request);
  AppendFieldsExcept(body, context.body(), {"skip", "limit", "singleBatch"});
  if (limit > 0) body.Append("limit", limit);
  wire::ShardEnvelope envelope = EnvelopeOf(route, context.times);
  envelope.merge = !find.sort.empty();
  wire::AppendEnvelope(body, envelope);
  return MakeMessage(body.Finish());
}

Awaitable<CommandResult> FindOnMany(CommandContext& context, RoutePtr route,
                                    const query::FindRequest& find, Targets targets) {
  MergeOptions options;
  options.ns = route->entry->ns;
  options.context = MakeQueryContext(context.router, context.times, route->entry->ns, find.let);
  EVENKEEL_CO_RETURN_IF_ERROR(SetCollation(options.context.get(), find.collation, *route->entry));
  options.skip = find.skip;
  int64_t shard_limit = 0;
  if (find.limit && *find.limit > 0) {
    options.limit = find.limit;
    if (__builtin_add_overflow(*find.limit, find.skip, &shard_limit)) shard_limit = 0;
  }
  if (!find.sort.empty()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(options.sort, query::SortPattern::Parse(find.sort));
  }
  wire::Message message = ScatteredFind(context, *route, find, shard_limit);
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      std::vector<ShardStream> streams,
      co_await OpenStreams(context, route, std::move(targets), std::move(message)));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      std::unique_ptr<ClientCursor> cursor,
      co_await MergeStreams(context, std::move(options), std::move(streams)));
  co_return co_await BeginCursor(context, route->entry->ns, std::move(cursor), FirstBatchOf(find));
}

}  // namespace

Awaitable<CommandResult> FindCommand(CommandContext& context) {
  context.router.metrics.queries.fetch_add(1, std::memory_order_relaxed);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::FindRequest find, query::ParseFind(context.body()));
  RouteRetry retry(context.router, ns, context.scope());
  while (true) {
    RoutePtr route = retry.Known();
    if (!route) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(route, co_await retry.Route());
    }
    if (!route) {
      const auto query_context = MakeQueryContext(context.router, context.times, ns, find.let);
      EVENKEEL_CO_RETURN_IF_ERROR(CheckQuery(find, *query_context));
      co_return EmptyCursorReply(ns);
    }
    if (route->entry->kind == catalog::CollectionKind::kView) {
      co_return co_await FindOnView(context, route, find);
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(Targets targets,
                                 TargetStatement(context.router, context.times, *route, find.filter,
                                                 find.collation, find.let));
    CommandResult result;
    if (targets.shards.size() == 1) {
      wire::Message message = ForwardCommand(context.request, EnvelopeOf(*route, context.times));
      result = co_await ForwardCursorCommand(context, route, targets.shards[0], std::move(message),
                                             FirstBatchOf(find));
    } else {
      result = co_await FindOnMany(context, route, find, std::move(targets));
    }
    if (!retry.IsStale(result.status())) co_return result;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

}  // namespace evenkeel::router::read
