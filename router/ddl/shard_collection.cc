// enableSharding and shardCollection.
#include "router/ddl/shard_collection.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
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

struct ShardArguments {
  std::string ns;
  std::optional<catalog::ShardKeyPattern> key;
  bool simple_collation = false;  // said so
  bool unique = false;
  bool already = false;  // set by the plan: sharded by this key before
};

struct ShardFields {
  bson::View key, collation, timeseries;
  bool unique = false;
};
// How the ranges are cut is not the client's to say, so that those fields have no effect.
constexpr query::FieldRule kShardFields[] = {
    {"key", query::fields::Object<&ShardFields::key>, true},
    {"unique", query::fields::SafeBool<&ShardFields::unique>},
    {"collation", query::fields::Object<&ShardFields::collation>},
    {"timeseries", query::fields::Object<&ShardFields::timeseries>},
    {"numInitialChunks"},
    {"initialSplitPoints"},
    {"presplitHashedZones"},
    {"enforceUniquenessCheck"},
    {"implicitlyCreateIndex"},
    {"getUUIDfromPrimaryShard"},
};

// Errors: BadValue for a collation other than simple, CommandNotSupported for time series.
absl::Status CheckOptions(const ShardFields& given) {
  const bson::Value locale = given.collation["locale"];
  if (!given.collation.empty() &&
      !(locale.Is(bson::Type::kString) && locale.AsString() == "simple")) {
    return MakeError(ErrorCode::kBadValue,
                     "the collation for shardCollection must be {locale: 'simple'}");
  }
  if (given.timeseries.empty()) return absl::OkStatus();
  return MakeError(ErrorCode::kCommandNotSupported,
                   "shardCollection: 'timeseries' is not supported yet");
}

absl::StatusOr<ShardArguments> ParseShardCollection(const wire::Request& request) {
  const bson::Value ns = request.argument;
  if (!ns.Is(bson::Type::kString)) {
    return query::WrongType("shardCollection", "shardCollection", ns, "string");
  }
  ShardFields given;
  EVENKEEL_RETURN_IF_ERROR(query::ReadFields(request.body(), "shardCollection",
                                             query::FieldScope::kCommand, kShardFields, &given));
  EVENKEEL_RETURN_IF_ERROR(CheckOptions(given));
  ShardArguments arguments;
  arguments.ns = std::string(ns.AsString());
  const auto [database, collection] = catalog::SplitNamespace(arguments.ns);
  EVENKEEL_RETURN_IF_ERROR(catalog::CheckCollectionName(database, collection));
  if (database == "config" || database == "admin" || database == "local") {
    return Error(ErrorCode::kIllegalOperation, "can't shard collections of the '{}' database",
                 database);
  }
  EVENKEEL_ASSIGN_OR_RETURN(arguments.key, catalog::ShardKeyPattern::Parse(given.key));
  arguments.simple_collation = !given.collation.empty();
  arguments.unique = given.unique;
  if (arguments.unique) {
    return MakeError(ErrorCode::kInvalidOptions, "hashed shard keys cannot be declared unique");
  }
  return arguments;
}

Awaitable<absl::StatusOr<Job>> PlanShard(RouterState& router, ShardArguments* arguments,
                                         CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, arguments->ns, scope));
  if (route != nullptr && route->entry->kind == catalog::CollectionKind::kView) {
    co_return Error(ErrorCode::kCommandNotSupportedOnView,
                    "Namespace {} is a view, not a collection", arguments->ns);
  }
  if (route != nullptr && route->entry->sharded()) {
    const bool same =
        bson::CompareDocuments(route->entry->shard_key->pattern(), arguments->key->pattern()) == 0;
    arguments->already = same;
    if (same) co_return Job{};
    co_return Error(ErrorCode::kAlreadyInitialized,
                    "sharding already enabled for collection {} with key {}", arguments->ns,
                    bson::ToJson(route->entry->shard_key->pattern()));
  }
  CollectionEntry base;
  if (route != nullptr) {
    base = *route->entry;
    if (base.id_collation() != nullptr && !arguments->simple_collation) {
      co_return Error(ErrorCode::kBadValue,
                      "{} has a default collation, by which documents are not sharded: say so with "
                      "collation: {{locale: 'simple'}}",
                      arguments->ns);
    }
  } else {
    EVENKEEL_CO_ASSIGN_OR_RETURN(base,
                                 co_await NewCollection(router, arguments->ns, bson::Document()));
  }
  Incarnation as{.shard_key = *arguments->key};
  if (route != nullptr) as.job = "shardCollection";
  EVENKEEL_CO_ASSIGN_OR_RETURN(const catalog::Route into,
                               co_await NewIncarnation(router, base, std::move(as)));
  if (route == nullptr) co_return CreateJob(router, "shardCollection", into);
  co_return CopyJob(router, "shardCollection", *route, into);
}

}  // namespace

Awaitable<absl::StatusOr<Job>> CreateShardedJob(RouterState& router, CollectionEntry base,
                                                catalog::ShardKeyPattern key) {
  Incarnation as{.shard_key = std::move(key)};
  EVENKEEL_CO_ASSIGN_OR_RETURN(const catalog::Route into,
                               co_await NewIncarnation(router, base, std::move(as)));
  co_return CreateJob(router, "shardCollection", into);
}

Awaitable<CommandResult> EnableShardingCommand(CommandContext& context) {
  const bson::Value name = context.request.argument;
  if (!name.Is(bson::Type::kString)) {
    co_return MakeError(ErrorCode::kTypeMismatch,
                        "BSON field 'enableSharding.enableSharding' must be a string");
  }
  EVENKEEL_CO_RETURN_IF_ERROR(catalog::CheckDatabaseName(name.AsString()));
  if (name.AsString() == "admin" || name.AsString() == "local") {
    co_return Error(ErrorCode::kInvalidOptions, "can't shard '{}' database", name.AsString());
  }
  EVENKEEL_CO_RETURN_IF_ERROR(
      co_await CheckDatabaseCase(context.router, std::string(name.AsString())));
  CatalogBatch batch;
  PutDatabase(context.router, name.AsString(), &batch);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await batch.Commit(context.router));
  co_return bson::Document();
}

Awaitable<CommandResult> ShardCollectionCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(ShardArguments arguments, ParseShardCollection(context.request));
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  Plan plan = [&router, &arguments, &scope] { return PlanShard(router, &arguments, scope); };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunJob(router, Names(arguments.ns), scope, std::move(plan)));
  bson::Builder reply;
  reply.Append("collectionsharded", arguments.ns);
  co_return reply.Finish();
}

}  // namespace evenkeel::router::ddl
