// reshardCollection, unshardCollection, moveCollection, and the commands that end them.
#include <optional>
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/ddl/copy_job.h"
#include "router/ddl/ddl.h"
#include "router/ddl/entries.h"
#include "router/ddl/job.h"
#include "router/router.h"

namespace evenkeel::router::ddl {
namespace {

using catalog::CollectionEntry;
using query::fields::Object;
using query::fields::SafeBool;
using query::fields::String;

constexpr std::string_view kReshard = "reshardCollection", kUnshard = "unshardCollection",
                           kMove = "moveCollection";

struct Wanted {
  std::string ns;
  std::optional<catalog::ShardKeyPattern> key;  // reshardCollection
  bool again = false;                           // also under the key that it has
  std::string_view to_shard;                    // unshardCollection, moveCollection
};

struct Fields {
  bson::View key, collation;
  bool unique = false, force = false;
  std::string_view to_shard;
};
// How the ranges are cut is not the client's to say, so that those fields have no effect.
constexpr query::FieldRule kReshardFields[] = {
    {"key", Object<&Fields::key>, true},
    {"unique", SafeBool<&Fields::unique>},
    {"collation", Object<&Fields::collation>},
    {"forceRedistribution", SafeBool<&Fields::force>},
    {"numInitialChunks"},
    {"zones"},
    {"reshardingUUID"},
    {"relaxed"},
    {"shardDistribution"},
};
constexpr query::FieldRule kUnshardFields[] = {{"toShard", String<&Fields::to_shard>}};
constexpr query::FieldRule kMoveFields[] = {{"toShard", String<&Fields::to_shard>, true}};

absl::StatusOr<std::string> NamespaceOf(const wire::Request& request) {
  const bson::Value ns = request.argument;
  if (!ns.Is(bson::Type::kString)) {
    return query::WrongType(request.name, request.name, ns, "string");
  }
  const auto [database, collection] = catalog::SplitNamespace(ns.AsString());
  EVENKEEL_RETURN_IF_ERROR(catalog::CheckCollectionName(database, collection));
  return std::string(ns.AsString());
}

// The collection that a job shall move. Errors: NamespaceNotFound, CommandNotSupportedOnView,
// NamespaceNotSharded or IllegalOperation where it is not of the kind that is wanted.
Awaitable<absl::StatusOr<CollectionEntry>> EntryToMove(RouterState& router, std::string ns,
                                                       bool sharded, CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, ns, scope));
  if (route == nullptr) {
    co_return Error(ErrorCode::kNamespaceNotFound, "collection {} does not exist", ns);
  }
  if (route->entry->kind == catalog::CollectionKind::kView) {
    co_return Error(ErrorCode::kCommandNotSupportedOnView,
                    "Namespace {} is a view, not a collection", ns);
  }
  if (sharded && !route->entry->sharded()) {
    co_return Error(ErrorCode::kNamespaceNotSharded, "Namespace {} is not sharded", ns);
  }
  if (!sharded && route->entry->sharded()) {
    co_return Error(ErrorCode::kIllegalOperation, "{} is sharded: reshardCollection moves its data",
                    ns);
  }
  co_return *route->entry;
}

Awaitable<absl::StatusOr<ShardId>> TargetNamed(RouterState& router, std::string_view name,
                                               CallScope scope) {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await router.cluster->Refresh(std::move(scope)));
  const auto members = router.cluster->members();
  const std::optional<ShardId> shard = ShardNamed(name);
  const auto found = shard ? members->find(*shard) : members->end();
  if (found == members->end()) {
    co_return Error(ErrorCode::kShardNotFound, "Shard {} not found", name);
  }
  if (found->second.row.draining) {
    co_return Error(ErrorCode::kIllegalOperation, "Shard {} is being drained", name);
  }
  co_return *shard;
}

Awaitable<absl::StatusOr<Job>> PlanCopy(RouterState& router, std::string_view kind,
                                        CollectionEntry from, Incarnation as) {
  as.job = std::string(kind);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const catalog::Route into,
                               co_await NewIncarnation(router, from, std::move(as)));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const catalog::Route source,
                               co_await RouteOf(router, std::move(from)));
  co_return CopyJob(router, std::string(kind), source, into);
}

Awaitable<absl::StatusOr<Job>> PlanReshard(RouterState& router, const Wanted& wanted,
                                           CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(CollectionEntry from,
                               co_await EntryToMove(router, wanted.ns, true, scope));
  const bool same = bson::CompareDocuments(from.shard_key->pattern(), wanted.key->pattern()) == 0;
  if (same && !wanted.again) co_return Job{};
  Incarnation as{.shard_key = wanted.key};
  co_return co_await PlanCopy(router, kReshard, std::move(from), std::move(as));
}

Awaitable<absl::StatusOr<Job>> PlanUnshard(RouterState& router, const Wanted& wanted,
                                           CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(CollectionEntry from,
                               co_await EntryToMove(router, wanted.ns, true, scope));
  Incarnation as;
  if (!wanted.to_shard.empty()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(as.primary, co_await TargetNamed(router, wanted.to_shard, scope));
  } else {
    EVENKEEL_CO_ASSIGN_OR_RETURN(as.primary, co_await EmptiestShard(router));
  }
  co_return co_await PlanCopy(router, kUnshard, std::move(from), std::move(as));
}

Awaitable<absl::StatusOr<Job>> PlanMove(RouterState& router, const Wanted& wanted,
                                        CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(CollectionEntry from,
                               co_await EntryToMove(router, wanted.ns, false, scope));
  Incarnation as;
  EVENKEEL_CO_ASSIGN_OR_RETURN(as.primary, co_await TargetNamed(router, wanted.to_shard, scope));
  if (as.primary == from.primary) co_return Job{};
  co_return co_await PlanCopy(router, kMove, std::move(from), std::move(as));
}

// The same when the balancer wants it.
Awaitable<absl::StatusOr<Job>> PlanPlacing(RouterState& router, std::string ns, ShardId to,
                                           CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      CollectionEntry from, co_await EntryToMove(router, std::move(ns), false, std::move(scope)));
  const auto members = router.cluster->members();
  const auto target = members->find(to);
  // It was chosen before the names were taken.
  const bool leaves = target == members->end() || target->second.row.draining;
  if (to == from.primary || leaves) co_return Job{};
  Incarnation as{.primary = to};
  co_return co_await PlanCopy(router, kBalancing, std::move(from), std::move(as));
}

using PlanFor = Awaitable<absl::StatusOr<Job>> (*)(RouterState&, const Wanted&, CallScope);

Awaitable<CommandResult> RunPlan(CommandContext& context, Wanted wanted, PlanFor plan_for) {
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  Plan plan = [&router, &wanted, &scope, plan_for] { return plan_for(router, wanted, scope); };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunJob(router, Names(wanted.ns), scope, std::move(plan)));
  co_return bson::Document();
}

Awaitable<CommandResult> Abort(CommandContext& context, std::string_view kind) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, NamespaceOf(context.request));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await AbortJob(context.router, ns, std::string(kind)));
  co_return bson::Document();
}

}  // namespace

Awaitable<absl::Status> PlaceCollection(RouterState& router, std::string ns, ShardId to,
                                        CallScope scope) {
  Plan plan = [&router, &ns, to, &scope] { return PlanPlacing(router, ns, to, scope); };
  co_return co_await RunBalancingJob(router, ns, scope, std::move(plan));
}

Awaitable<CommandResult> ReshardCollectionCommand(CommandContext& context) {
  Wanted wanted;
  EVENKEEL_CO_ASSIGN_OR_RETURN(wanted.ns, NamespaceOf(context.request));
  Fields given;
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(
      context.body(), kReshard, query::FieldScope::kCommand, kReshardFields, &given));
  if (given.unique) {
    co_return MakeError(ErrorCode::kBadValue, "hashed shard keys cannot be declared unique");
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(wanted.key, catalog::ShardKeyPattern::Parse(given.key));
  wanted.again = given.force;
  co_return co_await RunPlan(context, std::move(wanted), PlanReshard);
}

Awaitable<CommandResult> UnshardCollectionCommand(CommandContext& context) {
  Wanted wanted;
  EVENKEEL_CO_ASSIGN_OR_RETURN(wanted.ns, NamespaceOf(context.request));
  Fields given;
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(
      context.body(), kUnshard, query::FieldScope::kCommand, kUnshardFields, &given));
  wanted.to_shard = given.to_shard;
  co_return co_await RunPlan(context, std::move(wanted), PlanUnshard);
}

Awaitable<CommandResult> MoveCollectionCommand(CommandContext& context) {
  Wanted wanted;
  EVENKEEL_CO_ASSIGN_OR_RETURN(wanted.ns, NamespaceOf(context.request));
  Fields given;
  EVENKEEL_CO_RETURN_IF_ERROR(
      query::ReadFields(context.body(), kMove, query::FieldScope::kCommand, kMoveFields, &given));
  wanted.to_shard = given.to_shard;
  co_return co_await RunPlan(context, std::move(wanted), PlanMove);
}

Awaitable<CommandResult> AbortReshardCollectionCommand(CommandContext& context) {
  co_return co_await Abort(context, kReshard);
}
Awaitable<CommandResult> AbortUnshardCollectionCommand(CommandContext& context) {
  co_return co_await Abort(context, kUnshard);
}
Awaitable<CommandResult> AbortMoveCollectionCommand(CommandContext& context) {
  co_return co_await Abort(context, kMove);
}

// The end comes as soon as little is left, so that there is nothing to do but to wait for it.
Awaitable<CommandResult> CommitReshardCollectionCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, NamespaceOf(context.request));
  EVENKEEL_CO_RETURN_IF_ERROR(
      co_await AwaitJob(context.router, ns, std::string(kReshard), context.scope()));
  co_return bson::Document();
}

}  // namespace evenkeel::router::ddl
