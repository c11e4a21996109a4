// Documents of the stages that describe the cluster.
#include "router/read/sources.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "router/local/current_op.h"
#include "router/router.h"
#include "router/session/session_table.h"
#include "router/stats/figures.h"

namespace evenkeel::router::read {
namespace {

using Rows = absl::StatusOr<std::vector<bson::Document>>;

constexpr uint8_t kUuidSubtype = 4;

std::string Host(const RouterState& router) {
  return router.options.host + ":" + std::to_string(router.options.port);
}

bson::Value Option(const SourceCall& call, std::string_view name) {
  return call.spec.Is(bson::Type::kObject) ? call.spec.AsDocument()[name] : bson::Value();
}

bool Wanted(const SourceCall& call, std::string_view name) {
  const bson::Value value = Option(call, name);
  return !value.missing() && bson::Truthy(value);
}

// {readLatency, writes, commands}, which are not measured yet.
void AppendLatency(bson::Builder& row) {
  row.OpenDocument("latencyStats");
  for (const std::string_view kind : {"reads", "writes", "commands"}) {
    row.OpenDocument(kind).Append("latency", int64_t{0}).Append("ops", int64_t{0}).Close();
  }
  row.Close();
}

// As wide as it has to be.
void AppendCount(int64_t count, bson::Builder& row) {
  if (count <= INT32_MAX) {
    row.Append("count", static_cast<int32_t>(count));
  } else {
    row.Append("count", count);
  }
}

Awaitable<Rows> CollStats(SourceCall call) {
  int64_t scale = 1;
  const bson::Value storage = Option(call, "storageStats");
  if (storage.Is(bson::Type::kObject)) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(scale, stats::ScaleOf(storage.AsDocument()["scale"]));
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<stats::ShardFigures> parts,
                               co_await stats::FiguresOf(call.context, call.ns));
  if (parts.empty()) {
    co_return Error(
        ErrorCode::kNamespaceNotFound,
        "Unable to retrieve storageStats in $collStats stage: Collection [{}] not found", call.ns);
  }
  const RouterState& router = call.context.router;
  std::vector<bson::Document> rows;
  for (const stats::ShardFigures& part : parts) {
    bson::Builder row;
    row.Append("ns", call.ns).Append("shard", Cluster::ShardName(part.shard));
    row.Append("host", Host(router))
        .AppendDate("localTime", absl::ToUnixMillis(router.wall->Now()));
    if (!Option(call, "latencyStats").missing()) AppendLatency(row);
    if (!storage.missing()) {
      row.OpenDocument("storageStats");
      stats::AppendFigures(row, part.figures, scale);
      row.Append("capped", false).Close();
    }
    if (!Option(call, "count").missing()) {
      AppendCount(static_cast<int64_t>(part.figures.count), row);
    }
    rows.push_back(row.Finish());
  }
  co_return rows;
}

Awaitable<Rows> ShardedDataDistribution(SourceCall call) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<catalog::CollectionEntry> entries,
                               co_await stats::EntriesOf(call.context, ""));
  std::vector<bson::Document> rows;
  for (const catalog::CollectionEntry& entry : entries) {
    if (!entry.sharded()) continue;
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<stats::ShardFigures> parts,
                                 co_await stats::FiguresOf(call.context, entry.ns));
    bson::Builder row;
    row.Append("ns", entry.ns).OpenArray("shards");
    bson::ArrayAppender array(row);
    for (const stats::ShardFigures& part : parts) {
      row.OpenDocument(array.NextKey());
      row.Append("shardName", Cluster::ShardName(part.shard))
          .Append("numOrphanedDocs", part.figures.orphans)
          .Append("numOwnedDocuments", part.figures.count)
          .Append("ownedSizeBytes", part.figures.size_bytes)
          .Append("orphanedSizeBytes", part.figures.orphan_bytes)
          .Close();
    }
    row.Close();
    rows.push_back(row.Finish());
  }
  co_return rows;
}

bson::Document CatalogRow(const SourceCall& call, const catalog::CollectionEntry& entry,
                          const std::vector<ShardId>& shards) {
  const bool is_view = entry.kind == catalog::CollectionKind::kView;
  bson::Builder row;
  row.Append("db", entry.database()).Append("ns", entry.ns);
  row.Append("type", is_view ? "view" : "collection").Append("options", entry.options);
  row.OpenDocument("info").Append("readOnly", is_view);
  if (!is_view) row.AppendBinary("uuid", kUuidSubtype, entry.uuid);
  row.Close();
  if (const catalog::IndexEntry* id_index = entry.FindIndex("_id_"); id_index && !is_view) {
    row.Append("idIndex", id_index->spec);
  }
  row.Append("sharded", entry.sharded());
  if (entry.sharded()) row.Append("shardKey", entry.shard_key->pattern());
  if (Wanted(call, "tracked")) row.Append("tracked", entry.sharded());
  if (Wanted(call, "shards")) {
    row.OpenArray("shards");
    bson::ArrayAppender array(row);
    for (const ShardId shard : shards) array.Add(Cluster::ShardName(shard));
    row.Close();
  }
  if (Wanted(call, "balancingConfiguration")) {
    row.Append("balancingEnabled", false).Append("autoMergingEnabled", false);
  }
  return row.Finish();
}

Awaitable<Rows> ListClusterCatalog(SourceCall call) {
  const std::string_view database = call.context.request.database;
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<catalog::CollectionEntry> entries,
      co_await stats::EntriesOf(call.context, database == "admin" ? "" : database));
  std::vector<bson::Document> rows;
  for (const catalog::CollectionEntry& entry : entries) {
    RouteRetry retry(call.context.router, entry.ns, call.context.scope());
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    rows.push_back(CatalogRow(call, entry, route ? route->Shards() : std::vector<ShardId>()));
  }
  co_return rows;
}

Awaitable<Rows> ListSessions(SourceCall call) {
  std::vector<bson::Document> rows;
  for (const SessionTable::Listed& session : call.context.router.sessions->List()) {
    bson::Builder row;
    row.OpenDocument("_id").AppendBinary("id", kUuidSubtype, session.id);
    row.AppendBinary("uid", 0, local::NobodysDigest()).Close();
    row.AppendDate("lastUse", absl::ToUnixMillis(session.last_use));
    rows.push_back(row.Finish());
  }
  co_return rows;
}

Awaitable<Rows> CurrentOp(SourceCall call) {
  local::CurrentOpOptions options;
  options.idle_connections = Wanted(call, "idleConnections");
  options.idle_cursors = Wanted(call, "idleCursors");
  options.idle_sessions = Option(call, "idleSessions").missing() || Wanted(call, "idleSessions");
  options.truncate = Wanted(call, "truncateOps");
  co_return local::CurrentOperations(call.context, options);
}

// No settings can be made, and no statistics of queries are kept.
Awaitable<Rows> Nothing(SourceCall) { co_return std::vector<bson::Document>(); }

struct SourceRow {
  std::string_view stage;
  Source source;
};

// Sorted by name.
constexpr SourceRow kSources[] = {
    {"$collStats", CollStats},
    {"$currentOp", CurrentOp},
    {"$listClusterCatalog", ListClusterCatalog},
    {"$listLocalSessions", ListSessions},
    {"$listSessions", ListSessions},
    {"$querySettings", Nothing},
    {"$queryStats", Nothing},
    {"$shardedDataDistribution", ShardedDataDistribution},
};

}  // namespace

Source FindSource(std::string_view stage) {
  const auto found = std::find_if(std::begin(kSources), std::end(kSources),
                                  [stage](const SourceRow& row) { return row.stage == stage; });
  return found == std::end(kSources) ? nullptr : found->source;
}

}  // namespace evenkeel::router::read
