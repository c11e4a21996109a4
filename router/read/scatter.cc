// Cursors at shards.
#include "router/read/scatter.h"

#include <utility>

#include "base/status.h"
#include "router/cursor/forward_cursor.h"
#include "router/router.h"

namespace evenkeel::router::read {

Awaitable<CommandResult> ForwardCursorCommand(CommandContext& context, RoutePtr route,
                                              ShardId shard, wire::Message message,
                                              FirstBatch first) {
  ShardCall call{shard, std::move(message)};
  const auto reply = co_await context.router.cluster->Send(std::move(call), context.scope());
  if (!reply.ok()) co_return reply.status();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const CursorView opened, ReadCursor(reply->body));
  if (opened.id == 0) co_return PassedOnReply(reply->body, CursorId{});
  const CursorId id = context.router.cursors->NewId();
  EVENKEEL_CO_ASSIGN_OR_RETURN(bson::Document passed_on, PassedOnReply(reply->body, id));
  ShardCursor at{shard, opened.id, route->entry->ns};
  auto cursor = std::make_unique<ForwardCursor>(*context.router.cluster, std::move(at));
  co_return co_await KeepCursor(context, route->entry->ns, id, std::move(cursor), first,
                                std::move(passed_on));
}

Awaitable<absl::StatusOr<std::vector<ShardStream>>> OpenStreams(CommandContext& context,
                                                                RoutePtr route, Targets targets,
                                                                wire::Message message) {
  Cluster& cluster = *context.router.cluster;
  std::vector<ShardCall> calls;
  for (const ShardId shard : targets.shards) calls.push_back({shard, message});
  auto replies = co_await cluster.SendAll(std::move(calls), context.scope());
  std::vector<ShardStream> streams;
  absl::Status failure;
  for (size_t i = 0; i < replies.size(); ++i) {
    absl::Status status = replies[i].status();
    if (status.ok()) {
      const auto opened = ReadCursor(replies[i]->body);
      status = opened.status();
      if (status.ok()) {
        ShardStream stream;
        stream.cursor = {targets.shards[i], opened->id, route->entry->ns};
        stream.reply = *std::move(replies[i]);
        streams.push_back(std::move(stream));
        continue;
      }
    }
    if (failure.ok() || Is(status, kStaleRouting)) failure = status;
  }
  if (failure.ok()) co_return streams;
  std::vector<ShardCursor> opened;
  for (const ShardStream& stream : streams) opened.push_back(stream.cursor);
  co_await KillShardCursors(cluster, std::move(opened));
  co_return failure;
}

Awaitable<absl::StatusOr<std::unique_ptr<ClientCursor>>> MergeStreams(
    CommandContext& context, MergeOptions options, std::vector<ShardStream> streams) {
  std::vector<ShardCursor> opened;
  for (const ShardStream& stream : streams) opened.push_back(stream.cursor);
  auto cursor = MergeCursor::Make(context.router, std::move(options), std::move(streams));
  if (cursor.ok()) co_return std::unique_ptr<ClientCursor>(*std::move(cursor));
  co_await KillShardCursors(*context.router.cluster, std::move(opened));
  co_return cursor.status();
}

}  // namespace evenkeel::router::read
