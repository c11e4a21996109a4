// createIndexes and dropIndexes.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "query/collation/collation.h"
#include "query/request/create_indexes_request.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/cursor/client_cursor.h"
#include "router/ddl/ddl.h"
#include "router/ddl/entries.h"
#include "router/ddl/job.h"
#include "router/ddl/shard_key_rules.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/transaction/transaction.h"

namespace evenkeel::router::ddl {
namespace {

using catalog::CollectionEntry;
using catalog::IndexEntry;

constexpr size_t kIndexCountMax = 64;  // MongoDB's documented limit per collection

// What createIndexes reports.
struct IndexCounts {
  int32_t before = 0, after = 0;
  bool created_collection = false;
};

// Errors: CommandNotSupported for kinds and options that are not built yet.
absl::Status CheckSupported(const query::IndexSpec& spec) {
  const auto refuse = [&spec](std::string_view what) {
    return Error(ErrorCode::kCommandNotSupported, "index '{}': {} is not supported yet", spec.name,
                 what);
  };
  for (const query::IndexField& field : spec.fields) {
    switch (field.kind) {
      case query::IndexFieldKind::kAscending:
      case query::IndexFieldKind::kDescending:
      case query::IndexFieldKind::kHashed:
        break;
      default:
        return refuse("the kind of field '" + std::string(field.path) + "'");
    }
  }
  if (spec.has_partial_filter) return refuse("partialFilterExpression");
  if (spec.expire_after_seconds) return refuse("expireAfterSeconds");
  if (spec.hidden) return refuse("hidden");
  if (spec.prepare_unique) return refuse("prepareUnique");
  return absl::OkStatus();
}

// The specification as listIndexes shows it: v, key, name, then the options that matter. Without a
// collation of its own an index has the collection's. Errors: of the collation.
absl::StatusOr<bson::Document> StoredSpec(const query::IndexSpec& spec,
                                          const CollectionEntry& entry) {
  const bool inherits = !spec.source.Contains("collation");
  EVENKEEL_ASSIGN_OR_RETURN(
      const query::Collation* collation,
      query::Collation::Get(inherits ? query::CollationOption(entry.options) : spec.collation));
  bson::Builder out;
  out.Append("v", int32_t{2}).Append("key", spec.key).Append("name", spec.name);
  if (spec.unique) out.Append("unique", true);
  if (spec.sparse) out.Append("sparse", true);
  if (collation != nullptr) out.Append("collation", collation->spec());
  return out.Finish();
}

// Adds `index` to the entry unless the same one is there. Errors: IndexOptionsConflict,
// IndexKeySpecsConflict.
absl::StatusOr<bool> AddIndex(CollectionEntry* entry, IndexEntry index) {
  for (const IndexEntry& other : entry->indexes) {
    const bool same_key =
        other.collation == index.collation &&
        bson::CompareDocuments(other.spec["key"].AsDocument(), index.spec["key"].AsDocument()) == 0;
    const bool same_options = other.unique == index.unique && other.sparse == index.sparse;
    if (other.IsIdIndex() && same_key) return false;
    if (same_key && other.name == index.name && same_options) return false;
    if (other.name == index.name) {
      return Error(ErrorCode::kIndexKeySpecsConflict,
                   "An existing index has the same name as the requested index. Requested index: "
                   "{}, existing index: {}",
                   bson::ToJson(index.spec.view()), bson::ToJson(other.spec.view()));
    }
    if (same_key && same_options) {
      return Error(ErrorCode::kIndexOptionsConflict,
                   "Index already exists with a different name: {}", other.name);
    }
    if (same_key) {
      return Error(ErrorCode::kIndexOptionsConflict,
                   "An equivalent index already exists with different options. Requested index: "
                   "{}, existing index: {}",
                   bson::ToJson(index.spec.view()), bson::ToJson(other.spec.view()));
    }
  }
  if (entry->indexes.size() >= kIndexCountMax) {
    return Error(ErrorCode::kCannotCreateIndex, "'{}' has {} indexes already", entry->ns,
                 kIndexCountMax);
  }
  EVENKEEL_RETURN_IF_ERROR(CheckNewIndex(*entry, index));
  entry->indexes.push_back(std::move(index));
  return true;
}

std::vector<Step> ApplyEverywhere(const catalog::Route& route, const CollectionEntry& entry) {
  std::vector<Step> steps;
  for (const ShardId shard : route.Shards()) steps.push_back(Step::Apply(shard, {entry}));
  return steps;
}

Step CommitEntry(const CollectionEntry& entry) {
  CatalogBatch writes;
  writes.Put(catalog::kConfigCatalog, entry.ToBson().view());
  return Step::Commit(writes.Writes());
}

void Append(std::vector<Step>* steps, std::vector<Step> more) {
  for (Step& step : more) steps->push_back(std::move(step));
}

// Building: writers keep the indexes from the first step on; then the old documents are added; then
// readers may use them.
Job BuildJob(const catalog::Route& route, CollectionEntry building,
             const std::vector<IndexId>& added) {
  Job job;
  job.name = building.ns;
  job.kind = "createIndexes";
  ++building.version.value;
  CollectionEntry ready = NextVersion(building);
  CollectionEntry undone = NextVersion(ready);
  for (IndexEntry& index : building.indexes) {
    if (std::find(added.begin(), added.end(), index.id) != added.end()) index.ready = false;
  }
  undone.indexes = route.entry->indexes;
  Append(&job.steps, ApplyEverywhere(route, building));
  job.steps.push_back(CommitEntry(building));
  for (const IndexId index : added) {
    for (const ShardId shard : route.Shards())
      job.steps.push_back(Step::Build(shard, building, index));
  }
  Append(&job.steps, ApplyEverywhere(route, ready));
  job.steps.push_back(CommitEntry(ready));
  job.no_return = job.steps.size();
  Append(&job.undo, ApplyEverywhere(route, undone));
  job.undo.push_back(CommitEntry(undone));
  return job;
}

// In a transaction indexes come only with a collection that it has created and not written to yet.
// Errors: OperationNotSupportedInTransaction.
Awaitable<absl::Status> CheckInTransaction(RouterState& router, const catalog::Route& route,
                                           CallScope scope) {
  const std::string& ns = route.entry->ns;
  if (!scope.transaction->HasCreated(ns)) {
    co_return Error(ErrorCode::kOperationNotSupportedInTransaction,
                    "Cannot create new indexes on existing collection {} in a multi-document "
                    "transaction.",
                    ns);
  }
  std::vector<ShardCall> calls;
  for (const ShardId shard : route.Shards()) {
    bson::Builder body =
        StartCommand("find", route.entry->name(), route.entry->database(), nullptr);
    body.Append("limit", int64_t{1}).Append("singleBatch", true);
    wire::AppendEnvelope(body, EnvelopeOf(route));
    calls.push_back({shard, MakeMessage(body.Finish())});
  }
  for (const auto& reply : co_await router.cluster->SendAll(std::move(calls), scope)) {
    EVENKEEL_CO_RETURN_IF_ERROR(reply.status());
    EVENKEEL_CO_ASSIGN_OR_RETURN(const CursorView cursor, ReadCursor(reply->body));
    if (cursor.batch.empty()) continue;
    co_return Error(ErrorCode::kOperationNotSupportedInTransaction,
                    "Cannot create new indexes on non-empty collection {} in a multi-document "
                    "transaction.",
                    ns);
  }
  co_return absl::OkStatus();
}

Awaitable<absl::StatusOr<Job>> PlanCreateIndexes(RouterState& router, std::string ns,
                                                 const query::CreateIndexesRequest& request,
                                                 CallScope scope, IndexCounts* counts) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, ns, scope));
  if (route == nullptr) co_return Error(ErrorCode::kNamespaceNotFound, "ns does not exist: {}", ns);
  CollectionEntry entry = *route->entry;
  counts->before = static_cast<int32_t>(entry.indexes.size());
  std::vector<IndexId> added;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const uint64_t first_id,
                               co_await AllocateIds(router, request.indexes.size()));
  for (size_t i = 0; i < request.indexes.size(); ++i) {
    EVENKEEL_CO_RETURN_IF_ERROR(CheckSupported(request.indexes[i]));
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document spec, StoredSpec(request.indexes[i], entry));
    EVENKEEL_CO_ASSIGN_OR_RETURN(IndexEntry index,
                                 IndexEntry::FromSpec(IndexId{first_id + i}, spec.view()));
    const IndexId id = index.id;
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bool is_new, AddIndex(&entry, std::move(index)));
    if (is_new) added.push_back(id);
  }
  counts->after = static_cast<int32_t>(entry.indexes.size());
  if (added.empty()) co_return Job{};
  if (scope.transaction) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await CheckInTransaction(router, *route, scope));
  }
  co_return BuildJob(*route, std::move(entry), added);
}

// Which indexes a dropIndexes names. Errors: IndexNotFound, InvalidOptions for `_id_`.
absl::Status RemoveNamed(CollectionEntry* entry, bson::Value which) {
  const auto drop = [entry](auto matches, const std::string& shown) {
    const auto found = std::find_if(entry->indexes.begin(), entry->indexes.end(), matches);
    if (found == entry->indexes.end()) {
      return Error(ErrorCode::kIndexNotFound, "index not found with name [{}]", shown);
    }
    if (found->IsIdIndex()) return MakeError(ErrorCode::kInvalidOptions, "cannot drop _id index");
    entry->indexes.erase(found);
    return absl::OkStatus();
  };
  if (which.Is(bson::Type::kString) && which.AsString() == "*") {
    entry->indexes.resize(1);  // `_id_` is the first
    return absl::OkStatus();
  }
  if (which.Is(bson::Type::kString)) {
    const std::string name(which.AsString());
    return drop([&name](const IndexEntry& index) { return index.name == name; }, name);
  }
  if (which.Is(bson::Type::kObject)) {
    const bson::View key = which.AsDocument();
    return drop(
        [key](const IndexEntry& index) {
          return bson::CompareDocuments(index.spec["key"].AsDocument(), key) == 0;
        },
        bson::ToJson(key));
  }
  if (which.Is(bson::Type::kArray)) {
    for (const auto& [position, name] : which.AsDocument()) {
      if (!name.Is(bson::Type::kString))
        return MakeError(ErrorCode::kTypeMismatch, "index names must be strings");
      EVENKEEL_RETURN_IF_ERROR(RemoveNamed(entry, name));
    }
    return absl::OkStatus();
  }
  return MakeError(ErrorCode::kTypeMismatch, "BSON field 'dropIndexes.index' is the wrong type");
}

Awaitable<absl::StatusOr<Job>> PlanDropIndexes(RouterState& router, std::string ns,
                                               bson::Value which, CallScope scope,
                                               int32_t* before) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, ns, scope));
  if (route == nullptr) co_return Error(ErrorCode::kNamespaceNotFound, "ns not found {}", ns);
  if (route->entry->kind == catalog::CollectionKind::kView) {
    co_return Error(ErrorCode::kCommandNotSupportedOnView,
                    "Namespace {} is a view, not a collection", ns);
  }
  CollectionEntry entry = NextVersion(*route->entry);
  *before = static_cast<int32_t>(entry.indexes.size());
  EVENKEEL_CO_RETURN_IF_ERROR(RemoveNamed(&entry, which));
  Job job;
  if (entry.indexes.size() == route->entry->indexes.size()) co_return job;
  job.name = ns;
  job.kind = "dropIndexes";
  job.steps = ApplyEverywhere(*route, entry);
  job.steps.push_back(CommitEntry(entry));
  co_return job;
}

absl::Status ReadWhich(std::string_view, const bson::Element& field, void* out) {
  *static_cast<bson::Value*>(out) = field.value;
  return absl::OkStatus();
}
// Null is a wrong type here, not an absent field.
constexpr query::FieldRule kDropFields[] = {{"index", ReadWhich}};

bson::Document CreateIndexesReply(const IndexCounts& counts) {
  bson::Builder reply;
  reply.Append("numIndexesBefore", counts.before)
      .Append("numIndexesAfter", counts.after)
      .Append("createdCollectionAutomatically", counts.created_collection);
  if (counts.before == counts.after) reply.Append("note", "all indexes already exist");
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> CreateIndexesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::CreateIndexesRequest request,
                               query::ParseCreateIndexes(context.body()));
  for (const query::IndexSpec& spec : request.indexes) {
    EVENKEEL_CO_RETURN_IF_ERROR(CheckSupported(spec));
    if (spec.source.Contains("collation") && spec.collation.empty()) {
      co_return query::MissingField("collation", "locale");
    }
    EVENKEEL_CO_RETURN_IF_ERROR(query::Collation::Get(spec.collation).status());
  }
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  IndexCounts counts;
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const RoutePtr before, co_await router.cluster->Lookup(ns, scope.deadline, scope.cancelled));
  counts.created_collection = before == nullptr;
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const RoutePtr route, co_await EnsureCollection(router, ns, scope.deadline, scope.cancelled));
  if (context.transaction && counts.created_collection) context.transaction->NoteCreated(ns);
  Plan plan = [&] { return PlanCreateIndexes(router, ns, request, scope, &counts); };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunJob(router, Names(ns), scope, std::move(plan)));
  co_return CreateIndexesReply(counts);
}

Awaitable<CommandResult> DropIndexesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  bson::Value which;
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(context.body(), "dropIndexes",
                                                query::FieldScope::kCommand, kDropFields, &which));
  if (which.missing()) co_return query::MissingField("dropIndexes", "index");
  RouterState& router = context.router;
  const CallScope scope = context.scope();
  int32_t before = 0;
  Plan plan = [&] { return PlanDropIndexes(router, ns, which, scope, &before); };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunJob(router, Names(ns), scope, std::move(plan)));
  bson::Builder reply;
  reply.Append("nIndexesWas", before);
  if (which.Is(bson::Type::kString) && which.AsString() == "*") {
    reply.Append("msg", "non-_id indexes dropped for collection");
  }
  co_return reply.Finish();
}

}  // namespace evenkeel::router::ddl
