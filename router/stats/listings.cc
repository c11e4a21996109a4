// listDatabases, listCollections, listIndexes: rows out of the catalog.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/match/filter.h"
#include "query/request/fields.h"
#include "router/cursor/cursors.h"
#include "router/query_context.h"
#include "router/retry.h"
#include "router/router.h"
#include "router/stats/figures.h"
#include "router/stats/stats.h"
#include "router/write/batch_writer.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router::stats {
namespace {

constexpr uint8_t kUuidSubtype = 4;

// The fields of all three commands; each allows some of them.
struct ListRequest {
  bson::View filter, cursor;
  bool name_only = false, authorized = false;
  std::optional<int64_t> batch_size;
};

constexpr query::FieldRule kDatabasesFields[] = {
    {"filter", query::fields::Object<&ListRequest::filter>},
    {"nameOnly", query::fields::SafeBool<&ListRequest::name_only>},
    {"authorizedDatabases", query::fields::Bool<&ListRequest::authorized>},
};
constexpr query::FieldRule kCollectionsFields[] = {
    {"filter", query::fields::Object<&ListRequest::filter>},
    {"nameOnly", query::fields::Bool<&ListRequest::name_only>},
    {"authorizedCollections", query::fields::Bool<&ListRequest::authorized>},
    {"cursor", query::fields::Object<&ListRequest::cursor>},
};
constexpr query::FieldRule kIndexesFields[] = {
    {"cursor", query::fields::Object<&ListRequest::cursor>},
    {"includeIndexBuildInfo"},
    {"includeBuildUUIDs"},
};
constexpr query::FieldRule kCursorFields[] = {
    {"batchSize", query::fields::NonNegative<&ListRequest::batch_size>},
};

// Errors: TypeMismatch, 40415 for unknown fields, 51024 for a negative batch size.
absl::StatusOr<ListRequest> Parse(const CommandContext& context,
                                  std::span<const query::FieldRule> rules) {
  const std::string_view name = context.request.facts->name;
  ListRequest request;
  EVENKEEL_RETURN_IF_ERROR(
      query::ReadFields(context.body(), name, query::FieldScope::kCommand, rules, &request));
  EVENKEEL_RETURN_IF_ERROR(query::ReadFields(request.cursor, std::string(name) + ".cursor",
                                             query::FieldScope::kStruct, kCursorFields, &request));
  return request;
}

bson::Document CollectionRow(const catalog::CollectionEntry& entry, bool name_only) {
  const bool is_view = entry.kind == catalog::CollectionKind::kView;
  bson::Builder row;
  row.Append("name", entry.name()).Append("type", is_view ? "view" : "collection");
  if (name_only) return row.Finish();
  row.Append("options", entry.options).OpenDocument("info").Append("readOnly", is_view);
  if (!is_view) row.AppendBinary("uuid", kUuidSubtype, entry.uuid);
  row.Close();
  const catalog::IndexEntry* id_index = entry.FindIndex("_id_");
  if (!is_view && id_index) row.Append("idIndex", id_index->spec);
  return row.Finish();
}

// Bytes of each database, of all of its collections and indexes.
Awaitable<absl::StatusOr<std::map<std::string, int64_t>>> DatabaseSizes(CommandContext& context,
                                                                        bool name_only) {
  std::map<std::string, int64_t> sizes;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<catalog::CollectionEntry> entries,
                               co_await EntriesOf(context, ""));
  for (const catalog::CollectionEntry& entry : entries) {
    int64_t& bytes = sizes[std::string(entry.database())];
    if (name_only) continue;
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<ShardFigures> parts,
                                 co_await FiguresOf(context, entry.ns));
    const Figures sum = Sum(parts);
    bytes += sum.storage_bytes + sum.index_bytes;
  }
  // These exist in every cluster.
  sizes.try_emplace("admin", 0);
  sizes.try_emplace("config", 0);
  co_return sizes;
}

}  // namespace

Awaitable<CommandResult> ListDatabasesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const ListRequest request, Parse(context, kDatabasesFields));
  const auto query_context = MakeQueryContext(context.router, context.times, "admin.$cmd");
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Filter filter,
                               query::Filter::Parse(request.filter, *query_context));
  const bool name_only = request.name_only;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto sizes, co_await DatabaseSizes(context, name_only));
  int64_t total = 0;
  bson::Builder reply;
  reply.OpenArray("databases");
  bson::ArrayAppender array(reply);
  for (const auto& [name, bytes] : sizes) {
    bson::Builder row;
    row.Append("name", name);
    if (!name_only) {
      row.Append("sizeOnDisk", bytes)
          .Append("empty", bytes == 0 && name != "config" && name != "admin");
    }
    const bson::Document made = row.Finish();
    if (!filter.Matches(made)) continue;
    array.Add(made);
    total += bytes;
  }
  reply.Close();
  if (!name_only) reply.Append("totalSize", total).Append("totalSizeMb", total >> 20);
  co_return reply.Finish();
}

Awaitable<CommandResult> ListCollectionsCommand(CommandContext& context) {
  const std::string_view database = context.request.database;
  const std::string ns = std::string(database) + ".$cmd.listCollections";
  EVENKEEL_CO_ASSIGN_OR_RETURN(const ListRequest request, Parse(context, kCollectionsFields));
  const auto query_context = MakeQueryContext(context.router, context.times, ns);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Filter filter,
                               query::Filter::Parse(request.filter, *query_context));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<catalog::CollectionEntry> entries,
                               co_await EntriesOf(context, database));
  std::vector<bson::Document> rows;
  for (const catalog::CollectionEntry& entry : entries) {
    // The filter may name fields that nameOnly leaves out.
    if (filter.Matches(CollectionRow(entry, false)))
      rows.push_back(CollectionRow(entry, request.name_only));
  }
  co_return co_await ReplyWithRows(context, ns, std::move(rows), request.batch_size);
}

Awaitable<CommandResult> ListIndexesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const ListRequest request, Parse(context, kIndexesFields));
  // Asked of the catalog itself: an index that another router has made must be seen.
  context.router.cluster->Forget(ns);
  RouteRetry retry(context.router, ns, context.scope());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
  if (!route) co_return Error(ErrorCode::kNamespaceNotFound, "ns does not exist: {}", ns);
  if (route->entry->kind == catalog::CollectionKind::kView) co_return write::ViewError(ns);
  std::vector<bson::Document> rows;
  for (const catalog::IndexEntry& index : route->entry->indexes) rows.push_back(index.spec);
  co_return co_await ReplyWithRows(context, ns, std::move(rows), request.batch_size);
}

}  // namespace evenkeel::router::stats
