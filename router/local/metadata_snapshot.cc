// Reads config.* and asks all shards for their rows.
#include "router/local/metadata_snapshot.h"

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/job_record.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router::local {
namespace {

using catalog::CollectionEntry;

absl::Status AddShardRow(bson::View row, ShardRows* rows) {
  const bson::Value entry = row["entry"];
  if (!entry.Is(bson::Type::kObject)) return MakeError(ErrorCode::kInvalidBSON, "a row is damaged");
  EVENKEEL_ASSIGN_OR_RETURN(CollectionEntry parsed, CollectionEntry::FromBson(entry.AsDocument()));
  const uint64_t id = parsed.id.value;
  if (id < catalog::kFirstUserId) return absl::OkStatus();  // built in, the same everywhere
  rows->collections.insert_or_assign(id, std::move(parsed));
  return absl::OkStatus();
}

Awaitable<absl::StatusOr<ShardRows>> ReadShard(RouterState& router, ShardId shard,
                                               CallScope scope) {
  ShardRows rows;
  std::optional<int64_t> after;
  while (true) {
    bson::Builder body;
    body.Append("_listCatalog", int32_t{1}).Append("$db", "admin");
    if (after) body.Append("after", *after);
    ShardCall call{shard, MakeMessage(body.Finish())};
    EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message page,
                                 co_await router.cluster->Send(std::move(call), scope));
    if (const bson::Value list = page.body["assignments"]; list.Is(bson::Type::kArray)) {
      for (const auto& [key, row] : list.AsDocument()) {
        rows.assignments.emplace_back(row.AsDocument());
      }
    }
    const bson::Value list = page.body["collections"];
    if (!list.Is(bson::Type::kArray)) co_return rows;
    for (const auto& [key, row] : list.AsDocument()) {
      EVENKEEL_CO_RETURN_IF_ERROR(AddShardRow(row.AsDocument(), &rows));
      after = bson::ToInt64Truncated(row.AsDocument()["entry"].AsDocument()["id"]);
    }
    if (!bson::Truthy(page.body["more"])) co_return rows;
  }
}

Awaitable<absl::Status> AddBusy(RouterState& router, MetadataSnapshot* snapshot, CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> records,
      co_await ReadConfig(router, "jobs", bson::Document(), std::move(scope)));
  for (const bson::Document& record : records) {
    bool passed = false;
    EVENKEEL_CO_ASSIGN_OR_RETURN(const ddl::Job job, ddl::JobFrom(record.view(), &passed));
    snapshot->busy.insert(job.name);
    for (const auto* steps : {&job.steps, &job.undo}) {
      for (const ddl::Step& step : *steps) {
        for (const CollectionEntry& entry : step.entries) snapshot->busy.insert(entry.ns);
      }
    }
  }
  co_return absl::OkStatus();
}

std::string IdOf(bson::View row) {
  const bson::Value id = row["_id"];
  return id.Is(bson::Type::kString) ? std::string(id.AsString()) : std::string();
}

Awaitable<absl::Status> AddConfig(RouterState& router, MetadataSnapshot* snapshot,
                                  CallScope scope) {
  const bson::Document all;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> catalog,
                               co_await ReadConfig(router, "catalog", all, scope));
  for (const bson::Document& row : catalog) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(CollectionEntry entry, CollectionEntry::FromBson(row.view()));
    snapshot->catalog.push_back(std::move(entry));
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<bson::Document> collections,
                               co_await ReadConfig(router, "collections", all, scope));
  for (bson::Document& row : collections) {
    std::string ns = IdOf(row);
    snapshot->collections.insert_or_assign(std::move(ns), std::move(row));
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(snapshot->chunks, co_await ReadConfig(router, "chunks", all, scope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> databases,
                               co_await ReadConfig(router, "databases", all, scope));
  for (const bson::Document& row : databases) snapshot->databases.insert(IdOf(row));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> assignments,
                               co_await ReadConfig(router, "assignments", all, scope));
  for (const bson::Document& row : assignments) {
    // A damaged one is as good as none.
    auto assignment = catalog::Assignment::FromBson(row.view());
    if (!assignment.ok()) continue;
    snapshot->assignments.insert_or_assign(assignment->name(), *std::move(assignment));
  }
  co_return absl::OkStatus();
}

}  // namespace

bool MetadataSnapshot::IsBusy(std::string_view ns) const {
  return busy.contains(ns) || busy.contains(catalog::SplitNamespace(ns).database);
}

bool MetadataSnapshot::HasShard(std::string_view name) const {
  for (const auto& [number, rows] : shards) {
    if (Cluster::ShardName(ShardId{number}) == name) return true;
  }
  return false;
}

// Jobs are looked for before and behind everything else: one that has begun and ended meanwhile
// shows as differences that a second look does not find.
Awaitable<absl::StatusOr<MetadataSnapshot>> ReadMetadata(RouterState& router, CallScope scope) {
  MetadataSnapshot snapshot;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await AddBusy(router, &snapshot, scope));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await AddConfig(router, &snapshot, scope));
  for (const ShardId shard : router.cluster->AllShards()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(ShardRows rows, co_await ReadShard(router, shard, scope));
    snapshot.shards.insert_or_assign(shard.value, std::move(rows));
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await AddBusy(router, &snapshot, scope));
  co_return snapshot;
}

}  // namespace evenkeel::router::local
