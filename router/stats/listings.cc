// listDatabases, listCollections, listIndexes: rows out of the catalog.
#include <map>
#include <optional>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/match/filter.h"
#include "router/cursor/cursors.h"
#include "router/query_context.h"
#include "router/retry.h"
#include "router/router.h"
#include "router/stats/figures.h"
#include "router/stats/stats.h"
#include "router/write/batch_writer.h"

namespace evenkeel::router::stats {
namespace {

constexpr uint8_t kUuidSubtype = 4;

bool Flag(bson::View command, std::string_view name) {
  const bson::Value value = command[name];
  return !value.missing() && bson::Truthy(value);
}

// The command's filter over the rows. Errors: TypeMismatch, and those of the filter.
absl::StatusOr<query::Filter> FilterOf(bson::View command, const query::QueryContext& context) {
  const bson::Value filter = command["filter"];
  if (filter.IsNullish()) return query::Filter();
  if (!filter.Is(bson::Type::kObject)) {
    return MakeError(ErrorCode::kTypeMismatch, "filter must be an object");
  }
  return query::Filter::Parse(filter.AsDocument(), context);
}

// cursor.batchSize. Errors: TypeMismatch, BadValue.
absl::StatusOr<std::optional<int64_t>> BatchSizeOf(bson::View command) {
  const bson::Value cursor = command["cursor"];
  if (cursor.IsNullish()) return std::nullopt;
  if (!cursor.Is(bson::Type::kObject)) {
    return MakeError(ErrorCode::kTypeMismatch, "cursor must be an object");
  }
  const bson::Value size = cursor.AsDocument()["batchSize"];
  if (size.IsNullish()) return std::nullopt;
  if (!size.IsNumber()) {
    return MakeError(ErrorCode::kTypeMismatch, "cursor.batchSize must be a number");
  }
  const int64_t rows = bson::ToInt64Truncated(size);
  if (rows < 0) return MakeError(ErrorCode::kBadValue, "cursor.batchSize must not be negative");
  return rows;
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
  const auto query_context = MakeQueryContext(context.router, "admin.$cmd");
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Filter filter,
                               FilterOf(context.body(), *query_context));
  const bool name_only = Flag(context.body(), "nameOnly");
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
  const auto query_context = MakeQueryContext(context.router, ns);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Filter filter,
                               FilterOf(context.body(), *query_context));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto batch_size, BatchSizeOf(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<catalog::CollectionEntry> entries,
                               co_await EntriesOf(context, database));
  const bool name_only = Flag(context.body(), "nameOnly");
  std::vector<bson::Document> rows;
  for (const catalog::CollectionEntry& entry : entries) {
    // The filter may name fields that nameOnly leaves out.
    if (filter.Matches(CollectionRow(entry, false)))
      rows.push_back(CollectionRow(entry, name_only));
  }
  co_return co_await ReplyWithRows(context, ns, std::move(rows), batch_size);
}

Awaitable<CommandResult> ListIndexesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto batch_size, BatchSizeOf(context.body()));
  // Asked of the catalog itself: an index that another router has made must be seen.
  context.router.cluster->Forget(ns);
  RouteRetry retry(context.router, ns, context.scope());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
  if (!route) co_return Error(ErrorCode::kNamespaceNotFound, "ns does not exist: {}", ns);
  if (route->entry->kind == catalog::CollectionKind::kView) co_return write::ViewError(ns);
  std::vector<bson::Document> rows;
  for (const catalog::IndexEntry& index : route->entry->indexes) rows.push_back(index.spec);
  co_return co_await ReplyWithRows(context, ns, std::move(rows), batch_size);
}

}  // namespace evenkeel::router::stats
