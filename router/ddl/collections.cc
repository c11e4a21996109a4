// create, drop, dropDatabase, renameCollection, and the creation that a first write brings about.
#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "query/collation/collation.h"
#include "query/request/create_request.h"
#include "query/request/fields.h"
#include "query/stage/pipeline.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/copy_job.h"
#include "router/ddl/ddl.h"
#include "router/ddl/entries.h"
#include "router/ddl/job.h"
#include "router/ddl/shard_collection.h"
#include "router/query_context.h"
#include "router/router.h"
#include "router/transaction/transaction.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router::ddl {
namespace {

using catalog::CollectionEntry;
using catalog::CollectionKind;

constexpr int kViewDepthMax = 20;  // as MongoDB's
constexpr uint8_t kUuidSubtype = 4;
constexpr size_t kUuidBytes = 16;
constexpr size_t kNamespaceBytesMax = 255;
// Codes without a row in the table of error codes.
constexpr int kInvalidUuid = 207, kCollectionUuidMismatch = 361;

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
Job DropJob(const RouterState& router, const catalog::Route& route) {
  const CollectionEntry& entry = *route.entry;
  Job job;
  job.name = entry.ns;
  job.kind = "drop";
  if (entry.kind == CollectionKind::kCollection) AddDrop(router, route, &job.steps);
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
  if (!request.timeseries.missing()) return refuse("timeseries");
  if (!request.clustered_index.missing()) return refuse("clusteredIndex");
  if (!request.expire_after_seconds.missing()) return refuse("expireAfterSeconds");
  if (!request.encrypted_fields.missing()) return refuse("encryptedFields");
  if (!request.change_stream_pre_and_post_images.empty())
    return refuse("changeStreamPreAndPostImages");
  bson::Builder options;
  EVENKEEL_ASSIGN_OR_RETURN(const query::Collation* collation,
                            query::Collation::Get(request.collation));
  if (collation) options.Append("collation", collation->spec());
  if (!request.view_on.empty())
    options.Append("viewOn", request.view_on).AppendArray("pipeline", request.pipeline);
  return options.Finish();
}

// A view's pipeline, by itself. One that cannot be carried out yet may be stored: reads say so.
// Errors: of the pipeline, OptionNotSupportedOnView for one that writes.
absl::Status CheckViewPipeline(const RouterState& router, const CollectionEntry& view) {
  const auto context = MakeQueryContext(router, TimesNow(router), view.ns);
  const bson::View stages = view.options["pipeline"].AsDocument();
  const auto pipeline = query::Pipeline::Parse(stages, *context);
  if (CodeOf(pipeline.status()) == ErrorCode::kCommandNotSupported) return absl::OkStatus();
  if (!pipeline.ok()) return pipeline.status();
  if (!pipeline->Writes()) return absl::OkStatus();
  return MakeError(ErrorCode::kOptionNotSupportedOnView,
                   "$out and $merge cannot be used in the definition of a view");
}

// Errors: those of the pipeline; GraphContainsCycle and ViewDepthLimitExceeded for what the view is
// defined on.
Awaitable<absl::Status> CheckView(RouterState& router, const CollectionEntry& view,
                                  CallScope scope) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckViewPipeline(router, view));
  const std::string prefix = std::string(view.database()) + ".";
  std::string on = prefix + std::string(view.options["viewOn"].AsString());
  for (int depth = 1; depth <= kViewDepthMax; ++depth) {
    if (on == view.ns) {
      co_return Error(ErrorCode::kGraphContainsCycle, "view '{}' would be defined on itself",
                      view.ns);
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, on, scope));
    if (route == nullptr || route->entry->kind != CollectionKind::kView) {
      co_return absl::OkStatus();
    }
    on = prefix + std::string(route->entry->options["viewOn"].AsString());
  }
  co_return Error(ErrorCode::kViewDepthLimitExceeded, "view '{}' would nest deeper than {}",
                  view.ns, kViewDepthMax);
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
    EVENKEEL_CO_RETURN_IF_ERROR(co_await CheckView(router, entry, scope));
    entry.kind = CollectionKind::kView;
    entry.indexes.clear();
  }
  const bson::View shard_key = router.options.test_default_shard_key;
  if (!shard_key.empty() && entry.options.view().empty()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::ShardKeyPattern key,
                                 catalog::ShardKeyPattern::Parse(shard_key));
    co_return co_await CreateShardedJob(router, std::move(entry), std::move(key));
  }
  co_return CreateJob(router, entry);
}

Awaitable<absl::StatusOr<Job>> PlanDrop(RouterState& router, std::string ns, CallScope scope,
                                        int32_t* indexes) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, ns, scope));
  if (route == nullptr) co_return Job{};
  *indexes = static_cast<int32_t>(route->entry->indexes.size());
  co_return DropJob(router, *route);
}

struct RenameArguments {
  std::string from, to;
  bool drop_target = false;
  std::string target_uuid;  // 16 bytes: only this incarnation of the target may go; empty: any
};

struct RenameFields {
  std::string_view to;
  bson::Value drop_target;
};
constexpr query::FieldRule kRenameFields[] = {
    {"to", query::fields::String<&RenameFields::to>, true},
    {"dropTarget", query::fields::Any<&RenameFields::drop_target>},
    {"stayTemp"},
    {"collectionUUID"},
};

// dropTarget is a boolean or the UUID of the collection to drop.
absl::Status ReadDropTarget(bson::Value value, RenameArguments* arguments) {
  if (value.missing()) return absl::OkStatus();
  arguments->drop_target = true;
  if (value.Is(bson::Type::kBool)) {
    arguments->drop_target = value.AsBool();
    return absl::OkStatus();
  }
  if (!value.Is(bson::Type::kBinary)) {
    return query::WrongType("renameCollection", "dropTarget", value, "bool or binData");
  }
  arguments->target_uuid = std::string(value.AsBinary().bytes);
  if (value.AsBinary().subtype == kUuidSubtype && arguments->target_uuid.size() == kUuidBytes) {
    return absl::OkStatus();
  }
  return Error(Location(kInvalidUuid), "'renameCollection.dropTarget' must be a UUID");
}

// Errors: IllegalOperation for names that collections cannot have, 207 and 72 for a bad UUID.
absl::StatusOr<RenameArguments> ParseRename(const CommandContext& context) {
  RenameFields given;
  const bson::Value from = context.request.argument;
  if (from.IsNullish()) return query::MissingField("renameCollection", "renameCollection");
  if (!from.Is(bson::Type::kString)) {
    return query::WrongType("renameCollection", "renameCollection", from, "string");
  }
  EVENKEEL_RETURN_IF_ERROR(query::ReadFields(context.body(), "renameCollection",
                                             query::FieldScope::kCommand, kRenameFields, &given));
  RenameArguments arguments{std::string(from.AsString()), std::string(given.to), false, {}};
  for (const std::string& ns : {arguments.from, arguments.to}) {
    const auto [database, collection] = catalog::SplitNamespace(ns);
    // MongoDB has another error for names that are well-formed and still nobody's to use.
    const absl::Status valid = catalog::CheckCollectionName(database, collection);
    const bool reserved = ns.find('$') != ns.npos || ns.size() > kNamespaceBytesMax ||
                          collection == "system.profile" ||
                          (valid.ok() && !CheckUserNamespace(ns).ok());
    if (reserved && !database.empty() && !collection.empty()) {
      return Error(ErrorCode::kIllegalOperation, "error with namespace '{}': cannot be renamed",
                   ns);
    }
    EVENKEEL_RETURN_IF_ERROR(valid);
  }
  EVENKEEL_RETURN_IF_ERROR(ReadDropTarget(given.drop_target, &arguments));
  const bool same_database = catalog::SplitNamespace(arguments.from).database ==
                             catalog::SplitNamespace(arguments.to).database;
  if (!arguments.target_uuid.empty() && !same_database) {
    return MakeError(ErrorCode::kInvalidOptions,
                     "dropTarget must be a boolean for a rename into another database");
  }
  if (arguments.from == arguments.to) {
    return MakeError(ErrorCode::kIllegalOperation, "Can't rename a collection to itself");
  }
  return arguments;
}

// Errors: CollectionUUIDMismatch (361).
absl::Status CheckTarget(const RenameArguments& arguments, const catalog::Route* target) {
  if (arguments.target_uuid.empty()) return absl::OkStatus();
  if (target != nullptr && target->entry->uuid == arguments.target_uuid) return absl::OkStatus();
  return Error(Location(kCollectionUuidMismatch),
               "the UUID in dropTarget is not that of the collection '{}'", arguments.to);
}

Awaitable<absl::StatusOr<Job>> PlanRename(RouterState& router, RenameArguments arguments,
                                          CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto source, co_await Current(router, arguments.from, scope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto target, co_await Current(router, arguments.to, scope));
  EVENKEEL_CO_RETURN_IF_ERROR(CheckTarget(arguments, target.get()));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await CheckDatabaseCase(
      router, std::string(catalog::SplitNamespace(arguments.to).database)));
  if (source == nullptr) {
    co_return Error(ErrorCode::kNamespaceNotFound, "Source collection {} does not exist",
                    arguments.from);
  }
  if (source->entry->kind == CollectionKind::kView) {
    co_return Error(ErrorCode::kCommandNotSupportedOnView, "cannot rename view: {}",
                    arguments.from);
  }
  if (target != nullptr &&
      (!arguments.drop_target || target->entry->kind == CollectionKind::kView)) {
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
    AddDrop(router, *target, &job.steps);
  }
  co_return job;
}

// Drops one collection under the job's name, which is locked by then.
Awaitable<absl::Status> Drop(RouterState& router, std::string ns, CallScope scope,
                             int32_t* indexes) {
  Plan plan = [&router, ns, scope, indexes] { return PlanDrop(router, ns, scope, indexes); };
  co_return co_await RunJob(router, Names(ns), scope, std::move(plan));
}

// For commands without fields of their own: a misspelt option must not drop anything. Errors:
// 40415.
absl::Status CheckNoFields(const CommandContext& context) {
  return query::ReadFields(context.body(), context.request.facts->name, query::FieldScope::kCommand,
                           {}, nullptr);
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
  if (context.transaction && !request.view_on.empty()) {
    co_return MakeError(ErrorCode::kOperationNotSupportedInTransaction,
                        "Cannot create a view in a multi-document transaction.");
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document options, OptionsOf(request));
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  Plan plan = [&router, &ns, &options, &scope] {
    return PlanCreate(router, ns, options, false, scope);
  };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunJob(router, Names(ns), scope, std::move(plan)));
  if (context.transaction) context.transaction->NoteCreated(ns);
  co_return bson::Document();
}

Awaitable<CommandResult> DropCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckNoFields(context));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_RETURN_IF_ERROR(CheckUserNamespace(ns));
  int32_t indexes = -1;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await Drop(context.router, ns, context.scope(), &indexes));
  bson::Builder reply;
  if (indexes >= 0) reply.Append("nIndexesWas", indexes).Append("ns", ns);
  co_return reply.Finish();
}

Awaitable<CommandResult> DropDatabaseCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckNoFields(context));
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
  EVENKEEL_CO_ASSIGN_OR_RETURN(RenameArguments arguments, ParseRename(context));
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  Plan plan = [&router, &arguments, &scope] { return PlanRename(router, arguments, scope); };
  EVENKEEL_CO_RETURN_IF_ERROR(
      co_await RunJob(router, Names(arguments.from, arguments.to), scope, std::move(plan)));
  router.cluster->Forget(arguments.to);
  co_return bson::Document();
}

}  // namespace evenkeel::router::ddl
