// removeShard, and its steps as commands of their own.
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/log.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/catalog_batch.h"
#include "router/members/holdings.h"
#include "router/members/members.h"
#include "router/router.h"
#include "router/session/async_mutex.h"

namespace evenkeel::router::members {
namespace {

constexpr ShardId kCatalogShard{0};

// A shard that a command names, and its row.
struct Named {
  ShardId shard;
  bson::Document row;
  std::string name() const { return ShardName(shard); }
  bool draining() const { return bson::Truthy(row["draining"]); }
};

// Errors: ShardNotFound.
Awaitable<absl::StatusOr<Named>> NamedShard(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(context.body(), context.request.name,
                                                query::FieldScope::kCommand, {}, nullptr));
  const bson::Value argument = context.request.argument;
  if (!argument.Is(bson::Type::kString)) {
    co_return query::WrongType(context.request.name, context.request.name, argument, "string");
  }
  const std::string name(argument.AsString());
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      std::vector<bson::Document> rows,
      co_await ReadConfig(context.router, "shards", ById(name), context.scope()));
  const auto row = rows.empty() ? std::nullopt : ShardRow::FromBson(rows.front().view());
  if (!row) {
    co_return Error(ErrorCode::kShardNotFound,
                    "Could not drop shard '{}' because it does not exist", name);
  }
  co_return Named{row->shard, std::move(rows.front())};
}

absl::Status CheckRemovable(const RouterState& router, const Named& named) {
  if (named.shard != kCatalogShard) return absl::OkStatus();
  if (router.cluster->shard_count() == 1) {
    return MakeError(ErrorCode::kIllegalOperation,
                     "Operation not allowed because it would remove the last shard");
  }
  return MakeError(ErrorCode::kIllegalOperation,
                   "shard0 cannot be removed: the cluster's catalog lies on it");
}

// Replaces the row, or removes it when `next` is empty. Errors: ConflictingOperationInProgress when
// it has changed.
Awaitable<absl::Status> Change(RouterState& router, const Named& named, bson::Document next,
                               CallScope scope) {
  const std::string name = named.name();
  ddl::CatalogBatch batch;
  batch.ExpectVersion(catalog::kConfigShards, name, bson::ToInt64Truncated(named.row["version"]));
  if (next.empty()) {
    batch.Remove(catalog::kConfigShards, name);
  } else {
    batch.Put(catalog::kConfigShards, next.view());
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await batch.Commit(router));
  co_return co_await router.cluster->Refresh(std::move(scope));
}

Awaitable<absl::Status> SetDraining(CommandContext& context, const Named& named, bool draining) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckRemovable(context.router, named));
  if (named.draining() == draining) co_return absl::OkStatus();
  base::LogInfo("router", draining ? "a shard is drained" : "a shard is not drained any more",
                {{"shard", named.name()}});
  const absl::Status changed = co_await Change(
      context.router, named, WithDraining(named.row.view(), draining), context.scope());
  context.router.balance_now = true;
  co_return changed;
}

absl::Status CheckDraining(const Named& named) {
  if (named.draining()) return absl::OkStatus();
  return Error(ErrorCode::kIllegalOperation, "Shard {} is not draining: startShardDraining begins",
               named.name());
}

// Removes the row of a draining shard that is empty; false: it is not. The first look makes sure
// that nothing leads there any more; the new version of the row stops jobs that were planned before
// it; the second look finds what those had begun that got ahead of it.
Awaitable<absl::StatusOr<bool>> RemoveIfEmpty(CommandContext& context, Named named) {
  RouterState& router = context.router;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Holdings before,
                               co_await HoldingsOf(router, named.shard, context.scope()));
  if (!before.empty()) co_return false;
  bson::Document next = WithDraining(named.row.view(), true);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await Change(router, named, next, context.scope()));
  named.row = std::move(next);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Holdings after,
                               co_await HoldingsOf(router, named.shard, context.scope()));
  if (!after.empty()) co_return false;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await Change(router, named, bson::Document(), context.scope()));
  base::LogInfo("router", "a shard was removed", {{"shard", named.name()}});
  co_return true;
}

bson::Builder Progress(const Named& named, std::string_view message, std::string_view state) {
  bson::Builder reply;
  reply.Append("msg", message).Append("state", state).Append("shard", named.name());
  return reply;
}

bson::Document Ongoing(const Named& named, const Holdings& holdings) {
  bson::Builder reply = Progress(named, "draining ongoing", "ongoing");
  AppendRemaining(holdings, &reply);
  AppendToMove(holdings, &reply);
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> StartShardDrainingCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Named named, co_await NamedShard(context));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SetDraining(context, named, true));
  co_return bson::Document();
}

Awaitable<CommandResult> StopShardDrainingCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Named named, co_await NamedShard(context));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SetDraining(context, named, false));
  co_return bson::Document();
}

Awaitable<CommandResult> ShardDrainingStatusCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Named named, co_await NamedShard(context));
  EVENKEEL_CO_RETURN_IF_ERROR(CheckDraining(named));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Holdings holdings,
                               co_await HoldingsOf(context.router, named.shard, context.scope()));
  if (!holdings.empty()) co_return Ongoing(named, holdings);
  bson::Builder reply = Progress(named, "draining completed successfully", "drainingComplete");
  AppendRemaining(holdings, &reply);
  co_return reply.Finish();
}

Awaitable<CommandResult> CommitShardRemovalCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Named named, co_await NamedShard(context));
  EVENKEEL_CO_RETURN_IF_ERROR(CheckRemovable(context.router, named));
  EVENKEEL_CO_RETURN_IF_ERROR(CheckDraining(named));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bool removed, co_await RemoveIfEmpty(context, named));
  if (!removed) {
    co_return Error(ErrorCode::kIllegalOperation,
                    "Shard {} is not completely drained: shardDrainingStatus shows what is left",
                    named.name());
  }
  co_return bson::Document();
}

Awaitable<CommandResult> RemoveShardCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Named named, co_await NamedShard(context));
  EVENKEEL_CO_RETURN_IF_ERROR(CheckRemovable(context.router, named));
  if (!named.draining()) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SetDraining(context, named, true));
    EVENKEEL_CO_ASSIGN_OR_RETURN(const Holdings holdings,
                                 co_await HoldingsOf(context.router, named.shard, context.scope()));
    bson::Builder reply = Progress(named, "draining started successfully", "started");
    AppendToMove(holdings, &reply);
    co_return reply.Finish();
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bool removed, co_await RemoveIfEmpty(context, named));
  if (removed) {
    co_return Progress(named, "removeshard completed successfully", "completed").Finish();
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Holdings holdings,
                               co_await HoldingsOf(context.router, named.shard, context.scope()));
  co_return Ongoing(named, holdings);
}

}  // namespace evenkeel::router::members
