// create, drop, dropDatabase, renameCollection, and the creation that a first write brings about.
#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "query/request/create_request.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/ddl.h"
#include "router/ddl/entries.h"
#include "router/ddl/job.h"
#include "router/router.h"

namespace evenkeel::router::ddl {
namespace {

using catalog::CollectionEntry;
using catalog::CollectionKind;

// Names that users may not create or change.
absl::Status CheckUserNamespace(std::string_view ns) {
  const auto [database, collection] = catalog::SplitNamespace(ns);
  EVENKEEL_RETURN_IF_ERROR(catalog::CheckCollectionName(database, collection));
  if (database == "config" || catalog::FindConfigCollection(ns) != nullptr) {
    return Error(ErrorCode::kInvalidNamespace,
                 "collections of 'config' cannot be created or changed: '{}'", ns);
  }
  if (collection.starts_with("system.") && collection != "system.profile") {
    return Error(ErrorCode::kInvalidNamespace, "cannot write to '{}'", ns);
  }
  return absl::OkStatus();
}

// The job that makes a collection: its rows, then its name.
Job CreateJob(RouterState& router, const CollectionEntry& entry) {
  Job job;
  job.name = entry.ns;
  job.kind = "create";
  if (entry.kind == CollectionKind::kCollection) {
    job.steps.push_back(Step::Apply(entry.primary, {entry}));
    job.undo.push_back(Step::Apply(entry.primary, {}, {entry.id}));
  }
  CatalogBatch writes;
  PutEntry(router, entry, nullptr, &writes);
  job.steps.push_back(Step::Commit(writes.Writes()));
  job.no_return = job.steps.size();
  return job;
}

// The job that removes a collection or view: its data, then its name. It cannot be undone.
Job DropJob(const catalog::Route& route) {
  const CollectionEntry& entry = *route.entry;
  Job job;
  job.name = entry.ns;
  job.kind = "drop";
  if (entry.kind == CollectionKind::kCollection) {
    for (const ShardId shard : route.Shards())
      job.steps.push_back(Step::Apply(shard, {}, {entry.id}));
  }
  CatalogBatch writes;
  RemoveEntry(entry, route.assignment.get(), &writes);
  job.steps.push_back(Step::Commit(writes.Writes()));
  return job;
}

// Options as listCollections shows them. Errors: CommandNotSupported for what is not built yet: it
// must not be ignored silently.
absl::StatusOr<bson::Document> OptionsOf(const query::CreateRequest& request) {
  const auto refuse = [](std::string_view what) {
    return Error(ErrorCode::kCommandNotSupported, "create: '{}' is not supported yet", what);
  };
  if (request.capped) return refuse("capped");
  if (request.has_validator) return refuse("validator");
  if (!request.collation.empty()) return refuse("collation");
  if (!request.timeseries.missing()) return refuse("timeseries");
  if (!request.clustered_index.missing()) return refuse("clusteredIndex");
  if (!request.expire_after_seconds.missing()) return refuse("expireAfterSeconds");
  if (!request.encrypted_fields.missing()) return refuse("encryptedFields");
  if (!request.change_stream_pre_and_post_images.empty())
    return refuse("changeStreamPreAndPostImages");
  bson::Builder options;
  if (!request.view_on.empty())
    options.Append("viewOn", request.view_on).AppendArray("pipeline", request.pipeline);
  return options.Finish();
}

Awaitable<absl::StatusOr<Job>> PlanCreate(RouterState& router, std::string ns,
                                          bson::Document options, bool only_if_absent,
                                          CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, ns, scope));
  const bool view = options["viewOn"].Is(bson::Type::kString);
  if (route != nullptr) {
    const bool same = bson::CompareDocuments(route->entry->options.view(), options.view()) == 0;
    if (only_if_absent || same) co_return Job{};
    co_return Error(ErrorCode::kNamespaceExists, "a {} {} already exists",
                    route->entry->kind == CollectionKind::kView ? "view" : "collection", ns);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(CollectionEntry entry,
                               co_await NewCollection(router, ns, std::move(options)));
  if (view) {
    entry.kind = CollectionKind::kView;
    entry.indexes.clear();
  }
  co_return CreateJob(router, entry);
}

Awaitable<absl::StatusOr<Job>> PlanDrop(RouterState& router, std::string ns, CallScope scope,
                                        int32_t* indexes) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, ns, scope));
  if (route == nullptr) co_return Job{};
  *indexes = static_cast<int32_t>(route->entry->indexes.size());
  co_return DropJob(*route);
}

struct RenameArguments {
  std::string from, to;
  bool drop_target = false;
};

Awaitable<absl::StatusOr<Job>> PlanRename(RouterState& router, RenameArguments arguments,
                                          CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto source, co_await Current(router, arguments.from, scope));
  if (source == nullptr) {
    co_return Error(ErrorCode::kNamespaceNotFound, "Source collection {} does not exist",
                    arguments.from);
  }
  if (source->entry->kind == CollectionKind::kView) {
    co_return Error(ErrorCode::kCommandNotSupportedOnView, "cannot rename view: {}",
                    arguments.from);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto target, co_await Current(router, arguments.to, scope));
  if (target != nullptr && !arguments.drop_target) {
    co_return Error(ErrorCode::kNamespaceExists, "target namespace exists: {}", arguments.to);
  }
  Job job;
  job.name = arguments.from;
  job.kind = "renameCollection";
  CollectionEntry renamed = NextVersion(*source->entry);
  renamed.ns = arguments.to;
  // The new version makes routers that know the old name ask again.
  for (const ShardId shard : source->Shards()) job.steps.push_back(Step::Apply(shard, {renamed}));
  CatalogBatch writes;
  RemoveEntry(*source->entry, source->assignment.get(), &writes);
  if (target != nullptr) RemoveEntry(*target->entry, target->assignment.get(), &writes);
  PutEntry(router, renamed, source->assignment.get(), &writes);
  job.steps.push_back(Step::Commit(writes.Writes()));
  if (target != nullptr && target->entry->kind == CollectionKind::kCollection) {
    for (const ShardId shard : target->Shards())
      job.steps.push_back(Step::Apply(shard, {}, {target->entry->id}));
  }
  co_return job;
}

// Drops one collection under the job's name, which is locked by then.
Awaitable<absl::Status> Drop(RouterState& router, std::string ns, CallScope scope,
                             int32_t* indexes) {
  Plan plan = [&router, ns, scope, indexes] { return PlanDrop(router, ns, scope, indexes); };
  co_return co_await RunJob(router, Names(ns), scope, std::move(plan));
}

}  // namespace

Awaitable<absl::StatusOr<RoutePtr>> EnsureCollection(RouterState& router, std::string ns,
                                                     absl::Time deadline,
                                                     base::CancellationToken cancelled) {
  const CallScope scope{deadline, std::move(cancelled)};
  EVENKEEL_CO_ASSIGN_OR_RETURN(RoutePtr route,
                               co_await router.cluster->Lookup(ns, deadline, scope.cancelled));
  if (route == nullptr) {
    EVENKEEL_CO_RETURN_IF_ERROR(CheckUserNamespace(ns));
    Plan plan = [&router, ns, scope] {
      return PlanCreate(router, ns, bson::Document(), true, scope);
    };
    EVENKEEL_CO_RETURN_IF_ERROR(co_await RunJob(router, Names(ns), scope, std::move(plan)));
    EVENKEEL_CO_ASSIGN_OR_RETURN(route, co_await Current(router, ns, scope));
  }
  if (route == nullptr) {
    co_return Error(ErrorCode::kNamespaceNotFound,
                    "collection '{}' was dropped as soon as it was made", ns);
  }
  if (route->entry->kind == CollectionKind::kView) {
    co_return Error(ErrorCode::kCommandNotSupportedOnView,
                    "Namespace {} is a view, not a collection", ns);
  }
  co_return route;
}

Awaitable<CommandResult> CreateCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_RETURN_IF_ERROR(CheckUserNamespace(ns));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::CreateRequest request,
                               query::ParseCreate(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document options, OptionsOf(request));
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  Plan plan = [&router, &ns, &options, &scope] {
    return PlanCreate(router, ns, options, false, scope);
  };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunJob(router, Names(ns), scope, std::move(plan)));
  co_return bson::Document();
}

Awaitable<CommandResult> DropCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_RETURN_IF_ERROR(CheckUserNamespace(ns));
  int32_t indexes = -1;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await Drop(context.router, ns, context.scope(), &indexes));
  bson::Builder reply;
  if (indexes >= 0) reply.Append("nIndexesWas", indexes).Append("ns", ns);
  co_return reply.Finish();
}

Awaitable<CommandResult> DropDatabaseCommand(CommandContext& context) {
  const std::string database(context.request.database);
  if (database == "config" || database == "admin" || database == "local") {
    co_return Error(ErrorCode::kIllegalOperation, "Dropping the '{}' database is prohibited",
                    database);
  }
  RouterState& router = context.router;
  // What is created meanwhile goes too, as far as this loop sees it.
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<CollectionEntry> entries,
                               co_await EntriesOf(router, database));
  for (const CollectionEntry& entry : entries) {
    int32_t indexes = 0;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Drop(router, entry.ns, context.scope(), &indexes));
  }
  CatalogBatch batch;
  EVENKEEL_CO_RETURN_IF_ERROR(
      co_await batch.Remove(catalog::kConfigDatabases, database).Commit(router));
  bson::Builder reply;
  if (!entries.empty()) reply.Append("dropped", database);
  co_return reply.Finish();
}

Awaitable<CommandResult> RenameCollectionCommand(CommandContext& context) {
  const bson::Value from = context.body().Front().value, to = context.body()["to"];
  for (const auto& [name, value] : {std::pair{"renameCollection", from}, std::pair{"to", to}}) {
    if (value.missing()) {
      co_return Error(Location(40414),
                      "BSON field 'renameCollection.{}' is missing but a required field", name);
    }
    if (!value.Is(bson::Type::kString)) {
      co_return Error(ErrorCode::kTypeMismatch,
                      "BSON field 'renameCollection.{}' is the wrong type", name);
    }
  }
  RenameArguments arguments{std::string(from.AsString()), std::string(to.AsString()),
                            bson::Truthy(context.body()["dropTarget"])};
  EVENKEEL_CO_RETURN_IF_ERROR(CheckUserNamespace(arguments.from));
  EVENKEEL_CO_RETURN_IF_ERROR(CheckUserNamespace(arguments.to));
  if (arguments.from == arguments.to) {
    co_return MakeError(ErrorCode::kIllegalOperation, "Can't rename a collection to itself");
  }
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  Plan plan = [&router, &arguments, &scope] { return PlanRename(router, arguments, scope); };
  EVENKEEL_CO_RETURN_IF_ERROR(
      co_await RunJob(router, Names(arguments.from, arguments.to), scope, std::move(plan)));
  router.cluster->Forget(arguments.to);
  co_return bson::Document();
}

}  // namespace evenkeel::router::ddl
