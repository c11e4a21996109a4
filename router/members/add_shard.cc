// addShard.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/entries.h"
#include "router/members/init_shard.h"
#include "router/members/members.h"
#include "router/router.h"
#include "router/session/async_mutex.h"
#include "router/shard_request.h"
#include "wire/net/host_port.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::router::members {
namespace {

// A process that has not answered by then is not there.
constexpr absl::Duration kAnswerTimeMax = absl::Seconds(5);
constexpr int kAttemptsMax = 20;  // of routers that add shards at once

struct Wanted {
  std::string host;  // "10.0.0.4:27018"
  std::string name;  // empty: any
};

struct Fields {
  std::string_view name;
};
constexpr query::FieldRule kFields[] = {{"name", query::fields::String<&Fields::name>}};

// "host:port", or "shard3/host:port", where shard3 is a name that is asked for.
absl::StatusOr<Wanted> ReadWanted(const CommandContext& context) {
  Fields fields;
  EVENKEEL_RETURN_IF_ERROR(
      query::ReadFields(context.body(), "addShard", query::FieldScope::kCommand, kFields, &fields));
  const bson::Value argument = context.request.argument;
  if (!argument.Is(bson::Type::kString)) {
    return query::WrongType("addShard", "addShard", argument, "string");
  }
  std::string_view text = argument.AsString();
  Wanted wanted{.name = std::string(fields.name)};
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view set = text.substr(0, slash);
    if (!wanted.name.empty() && wanted.name != set) {
      return Error(ErrorCode::kBadValue, "'{}' and the name '{}' are two names for one shard", text,
                   wanted.name);
    }
    wanted.name = std::string(set);
    text.remove_prefix(slash + 1);
  }
  const auto at = wire::ParseHostPort(text);
  if (!at || text.find(',') != std::string_view::npos) {
    return Error(ErrorCode::kBadValue, "addShard needs one address, host:port, not '{}'", text);
  }
  wanted.host = at->text();
  return wanted;
}

absl::Status CheckName(const Wanted& wanted, ShardId shard) {
  if (wanted.name.empty() || wanted.name == ShardName(shard)) return absl::OkStatus();
  return Error(ErrorCode::kBadValue,
               "shards are named by their numbers: {} becomes {}, it cannot be called '{}'",
               wanted.host, ShardName(shard), wanted.name);
}

Awaitable<absl::StatusOr<bson::Document>> Ask(wire::ShardChannel& channel, std::string host,
                                              bson::Document request, CallScope scope) {
  const std::string text = bson::ToDisplay(bson::Value(bson::Type::kObject, request.view().data()));
  const absl::Time deadline = std::min(scope.deadline, absl::Now() + kAnswerTimeMax);
  const auto reply =
      co_await channel.Call(MakeMessage(std::move(request)), deadline, scope.cancelled);
  absl::Status status = reply.ok() ? wire::StatusOfReply(reply->body) : reply.status();
  if (status.ok()) co_return bson::Document(reply->body);
  if (CodeOf(status) == ErrorCode::kAlreadyInitialized || scope.cancelled.IsCancelled())
    co_return status;
  co_return Error(ErrorCode::kOperationFailed,
                  "failed to run command {} when attempting to add shard {} :: caused by :: {}",
                  text, host, MessageOf(status));
}

// What a process says of itself.
struct Found {
  std::optional<ShardId> shard;  // none: it waits for its number
  std::string cluster_id;        // empty: it is new
};

Awaitable<absl::StatusOr<Found>> Look(wire::ShardChannel& channel, std::string host,
                                      CallScope scope) {
  bson::Builder ask;
  ask.Append("_processInfo", int32_t{1}).Append("$db", "admin");
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document info,
                               co_await Ask(channel, std::move(host), ask.Finish(), scope));
  Found found;
  const bson::Value shard = info["shard"], cluster = info["clusterId"];
  if (shard.Is(bson::Type::kInt32)) {
    found.shard = ShardId{static_cast<uint32_t>(shard.AsInt32())};
  }
  if (cluster.Is(bson::Type::kObjectId)) found.cluster_id = std::string(cluster.AsObjectId());
  co_return found;
}

bson::Document WaitingRow(ShardId shard, std::string_view host) {
  bson::Builder out;
  out.Append("_id", ShardName(shard)).Append("version", int64_t{1}).Append("host", host);
  return out.Finish();
}

Awaitable<absl::StatusOr<bool>> IsWaitedFor(RouterState& router, ShardId shard, CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> rows,
      co_await ReadConfig(router, "sequences", ById(ShardName(shard)), scope));
  co_return !rows.empty();
}

// Takes the next number. Errors: ConflictingOperationInProgress when another router has.
Awaitable<absl::Status> TakeNumber(RouterState& router, ShardId next, std::string host) {
  ddl::CatalogBatch batch;
  batch.ExpectVersion(catalog::kConfigSequences, kShardSequence, next.value)
      .Put(catalog::kConfigSequences, ShardSequenceRow(next.value + 1).view())
      .Put(catalog::kConfigSequences, WaitingRow(next, host).view());
  co_return co_await batch.Commit(router);
}

// The number for the process. Errors: OperationFailed for one that cannot become a shard.
Awaitable<absl::StatusOr<ShardId>> NumberFor(RouterState& router, const Wanted& wanted, Found found,
                                             CallScope scope) {
  if (!found.cluster_id.empty() && found.cluster_id != router.cluster_id) {
    co_return Error(ErrorCode::kOperationFailed,
                    "can't add shard '{}': it belongs to another cluster already", wanted.host);
  }
  if (found.shard) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bool waited_for,
                                 co_await IsWaitedFor(router, *found.shard, scope));
    EVENKEEL_CO_RETURN_IF_ERROR(CheckName(wanted, *found.shard));
    if (waited_for) co_return *found.shard;
    // Somebody else may have made it a member since the members were read.
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<ShardRow> rows,
                                 co_await router.cluster->ReadMembers(scope));
    const auto is_it = [&found](const ShardRow& row) { return row.shard == found.shard; };
    if (std::any_of(rows.begin(), rows.end(), is_it)) {
      co_return Error(ErrorCode::kConflictingOperationInProgress, "{} has just been added",
                      ShardName(*found.shard));
    }
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const uint32_t next,
                               co_await router.cluster->NextShardNumber(scope));
  if (found.shard && (!found.cluster_id.empty() || found.shard->value != next)) {
    co_return Error(ErrorCode::kOperationFailed,
                    "can't add shard '{}': its data are those of {}; the next shard is {}, and "
                    "begins with an empty folder",
                    wanted.host, ShardName(*found.shard), ShardName(ShardId{next}));
  }
  EVENKEEL_CO_RETURN_IF_ERROR(CheckName(wanted, ShardId{next}));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await TakeNumber(router, ShardId{next}, wanted.host));
  co_return ShardId{next};
}

Awaitable<absl::StatusOr<ShardId>> AddOnce(RouterState& router, const Wanted& wanted,
                                           wire::ShardChannel& channel, CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<ShardRow> rows,
                               co_await router.cluster->ReadMembers(scope));
  for (const ShardRow& row : rows) {
    if (row.host != wanted.host) continue;
    EVENKEEL_CO_RETURN_IF_ERROR(CheckName(wanted, row.shard));
    co_return row.shard;
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Found found, co_await Look(channel, wanted.host, scope));
  for (const ShardRow& row : rows) {
    if (found.shard != row.shard || found.cluster_id != router.cluster_id) continue;
    co_return Error(ErrorCode::kIllegalOperation, "'{}' is {} of this cluster already, at {}",
                    wanted.host, ShardName(row.shard), row.host);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const ShardId shard,
                               co_await NumberFor(router, wanted, found, scope));
  (void)EVENKEEL_FAIL_POINT(catalog_shard_before_identity);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto ranges, co_await ddl::NewestAssignment(router));
  const absl::Status named =
      (co_await Ask(channel, wanted.host, InitShardRequest(router, shard, *ranges), scope))
          .status();
  EVENKEEL_CO_RETURN_IF_ERROR(named);
  (void)EVENKEEL_FAIL_POINT(catalog_shard_before_row);
  ddl::CatalogBatch batch;
  batch.Expect(catalog::kConfigSequences, ShardName(shard), true)
      .Expect(catalog::kConfigShards, ShardName(shard), false)
      .Remove(catalog::kConfigSequences, ShardName(shard))
      .Put(catalog::kConfigShards, NewShardRow(shard, wanted.host, router.clock->Now()).view());
  EVENKEEL_CO_RETURN_IF_ERROR(co_await batch.Commit(router));
  base::LogInfo("router", "a shard was added",
                {{"shard", ShardName(shard)}, {"host", wanted.host}});
  co_return shard;
}

// Somebody else adds shards, too: what they have done is seen by looking again.
bool IsRace(const absl::Status& status) {
  return CodeOf(status) == ErrorCode::kConflictingOperationInProgress ||
         CodeOf(status) == ErrorCode::kAlreadyInitialized;
}

// One at a time on this router; others are met at the sequence.
Awaitable<absl::StatusOr<ShardId>> Add(RouterState& router, const Wanted& wanted,
                                       wire::ShardChannel& channel, CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto turn,
                               co_await router.ddl_locks->Lock("config.shards", scope));
  for (int attempt = 1;; ++attempt) {
    const absl::StatusOr<ShardId> added = co_await AddOnce(router, wanted, channel, scope);
    if (!IsRace(added.status()) || attempt == kAttemptsMax) co_return added;
  }
}

}  // namespace

Awaitable<CommandResult> AddShardCommand(CommandContext& context) {
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Wanted wanted, ReadWanted(context));
  const auto channel = router.cluster->Open("the new shard", wanted.host);
  if (channel == nullptr) {
    co_return MakeError(ErrorCode::kIllegalOperation,
                        "the shards of this cluster are in the process of its router: more are "
                        "made by `evenkeel start --shards N`");
  }
  const absl::StatusOr<ShardId> added = co_await Add(router, wanted, *channel, scope);
  co_await channel->Stop();
  EVENKEEL_CO_RETURN_IF_ERROR(added.status());
  EVENKEEL_CO_RETURN_IF_ERROR(co_await router.cluster->Refresh(scope));
  router.balance_now = true;
  bson::Builder reply;
  reply.Append("shardAdded", ShardName(*added));
  co_return reply.Finish();
}

}  // namespace evenkeel::router::members
