// Catalog entries and their documents.
#include "router/ddl/entries.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/router.h"
#include "router/uuid.h"

namespace evenkeel::router::ddl {
namespace {

constexpr int kDatabaseDifferCase = 13297;    // has no row in the table of error codes
constexpr int64_t kSameSizeBytes = 64 << 20;  // shards that differ by less count as equal

// The `_id` of a chunk: the same whenever it is asked for, so that it can be removed again.
std::string ChunkId(const catalog::CollectionEntry& entry, size_t range) {
  std::string id = entry.uuid.substr(0, 10);
  id.push_back(static_cast<char>(range >> 8));
  id.push_back(static_cast<char>(range));
  return id;
}

// {a: hash, b: MinKey | MaxKey …}; the ends of the space are MinKey and MaxKey in every field.
bson::Document ChunkBound(const catalog::ShardKeyPattern& key, const catalog::HashRange* from,
                          bool is_max) {
  bson::Builder out;
  const bool at_end = from == nullptr || (!is_max && from->min == INT64_MIN);
  for (size_t i = 0; i < key.fields().size(); ++i) {
    const std::string& field = key.fields()[i].dotted();
    if (i == 0 && !at_end) {
      out.Append(field, from->min);
    } else if (at_end && is_max) {
      out.AppendMaxKey(field);
    } else {
      out.AppendMinKey(field);
    }
  }
  return out.Finish();
}

bson::Document DatabaseDocument(std::string_view database, Timestamp now) {
  bson::Builder out;
  out.Append("_id", database)
      .Append("primary", Cluster::ShardName(ShardId{0}))
      .OpenDocument("version");
  out.AppendBinary("uuid", 4, NewUuid())
      .Append("timestamp", now)
      .Append("lastMod", int32_t{1})
      .Close();
  return out.Finish();
}

bson::Document ShardedDocument(RouterState& router, const catalog::CollectionEntry& entry) {
  bson::Builder out;
  out.Append("_id", entry.ns)
      .AppendObjectId("lastmodEpoch", ChunkId(entry, 0))
      .AppendDate("lastmod", absl::ToUnixMillis(router.wall->Now()))
      .Append("timestamp", router.clock->Now())
      .AppendBinary("uuid", 4, entry.uuid)
      .Append("key", entry.shard_key->pattern())
      .Append("unique", entry.shard_key_unique)
      .Append("noBalance", false)
      .Append("assignment", entry.assignment);
  return out.Finish();
}

bson::Document ChunkDocument(const catalog::CollectionEntry& entry,
                             const catalog::Assignment& assignment, size_t range, Timestamp now) {
  const auto ranges = assignment.ranges();
  const catalog::HashRange* next = range + 1 < ranges.size() ? &ranges[range + 1] : nullptr;
  const std::string shard = Cluster::ShardName(ranges[range].owner);
  bson::Builder out;
  out.AppendObjectId("_id", ChunkId(entry, range))
      .AppendBinary("uuid", 4, entry.uuid)
      .Append("min", ChunkBound(*entry.shard_key, &ranges[range], false))
      .Append("max", ChunkBound(*entry.shard_key, next, true))
      .Append("shard", shard)
      .Append("lastmod", Timestamp::FromParts(1, static_cast<uint32_t>(range)))
      .Append("onCurrentShardSince", now)
      .OpenArray("history")
      .OpenDocument("0")
      .Append("validAfter", now)
      .Append("shard", shard)
      .Close()
      .Close();
  return out.Finish();
}

}  // namespace

Awaitable<absl::StatusOr<ShardId>> EmptiestShard(RouterState& router) {
  std::vector<std::tuple<int64_t, int64_t, uint32_t>> shards;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await router.cluster->Refresh({}));
  const auto members = router.cluster->members();
  for (const auto& [shard, member] : *members) {
    if (member.row.draining) continue;
    bson::Builder body;
    body.Append("_shardStats", int32_t{1});
    const auto reply =
        co_await router.cluster->Call(shard, body.Finish(), absl::InfiniteFuture(), {});
    if (CodeOf(reply.status()) == ErrorCode::kStaleConfig) continue;  // it was removed meanwhile
    EVENKEEL_CO_RETURN_IF_ERROR(reply.status());
    const bson::View stats = reply->view();
    const int64_t bytes = bson::ToInt64Truncated(stats["lmdbBytes"]) +
                          bson::ToInt64Truncated(stats["activeTableBytes"]);
    const int64_t collections = bson::ToInt64Truncated(stats["collections"]);
    const int64_t own =
        shard == ShardId{0} ? static_cast<int64_t>(catalog::ConfigCollections().size()) : 0;
    shards.emplace_back(bytes / kSameSizeBytes, collections - own, shard.value);
  }
  co_return ShardId{std::get<2>(*std::min_element(shards.begin(), shards.end()))};
}

Awaitable<absl::Status> CheckDatabaseCase(RouterState& router, std::string database) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> known,
                               co_await ReadConfig(router, "databases", ById(database), {}));
  if (!known.empty()) co_return absl::OkStatus();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> all,
                               co_await ReadConfig(router, "databases", bson::Document(), {}));
  for (const bson::Document& row : all) {
    const bson::Value other = row["_id"];
    if (!other.Is(bson::Type::kString)) continue;
    if (!absl::EqualsIgnoreCase(absl::string_view(other.AsString().data(), other.AsString().size()),
                                database)) {
      continue;
    }
    co_return Error(Location(kDatabaseDifferCase),
                    "db already exists with different case already have: [{}] trying to create "
                    "[{}]",
                    other.AsString(), database);
  }
  co_return absl::OkStatus();
}

Awaitable<absl::StatusOr<catalog::CollectionEntry>> NewCollection(RouterState& router,
                                                                  std::string ns,
                                                                  bson::Document options) {
  catalog::CollectionEntry entry;
  EVENKEEL_CO_RETURN_IF_ERROR(
      co_await CheckDatabaseCase(router, std::string(catalog::SplitNamespace(ns).database)));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const uint64_t ids, co_await AllocateIds(router, 2));
  entry.id = CollectionId{ids};
  entry.ns = std::move(ns);
  entry.uuid = NewUuid();
  entry.options = std::move(options);
  EVENKEEL_CO_ASSIGN_OR_RETURN(entry.primary, co_await EmptiestShard(router));
  bson::Builder spec;
  spec.Append("v", int32_t{2})
      .OpenDocument("key")
      .Append("_id", int32_t{1})
      .Close()
      .Append("name", "_id_")
      .Append("collation", entry.options["collation"]);
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      catalog::IndexEntry index,
      catalog::IndexEntry::FromSpec(IndexId{ids + 1}, spec.Finish().view()));
  entry.indexes.push_back(std::move(index));
  co_return entry;
}

void PutDatabase(RouterState& router, std::string_view database, CatalogBatch* batch) {
  batch->PutOnce(catalog::kConfigDatabases, DatabaseDocument(database, router.clock->Now()).view());
}

void PutEntry(RouterState& router, const catalog::CollectionEntry& entry,
              const catalog::Assignment* assignment, CatalogBatch* batch) {
  const Timestamp now = router.clock->Now();
  batch->Put(catalog::kConfigCatalog, entry.ToBson().view());
  PutDatabase(router, entry.database(), batch);
  if (assignment == nullptr) return;
  batch->Put(catalog::kConfigCollections, ShardedDocument(router, entry).view());
  for (size_t i = 0; i < assignment->ranges().size(); ++i) {
    batch->Put(catalog::kConfigChunks, ChunkDocument(entry, *assignment, i, now).view());
  }
}

void RemoveEntry(const catalog::CollectionEntry& entry, const catalog::Assignment* assignment,
                 CatalogBatch* batch) {
  batch->Remove(catalog::kConfigCatalog, entry.ns);
  if (assignment == nullptr) return;
  batch->Remove(catalog::kConfigCollections, entry.ns);
  for (size_t i = 0; i < assignment->ranges().size(); ++i) {
    batch->Remove(catalog::kConfigChunks,
                  bson::Value(bson::Type::kObjectId, ChunkId(entry, i).data()));
  }
}

Awaitable<absl::StatusOr<std::vector<catalog::CollectionEntry>>> EntriesOf(
    RouterState& router, std::string_view database) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                               co_await ReadConfig(router, "catalog", OfDatabase(database), {}));
  std::vector<catalog::CollectionEntry> entries;
  for (const bson::Document& row : rows) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::CollectionEntry entry,
                                 catalog::CollectionEntry::FromBson(row.view()));
    entries.push_back(std::move(entry));
  }
  co_return entries;
}

Awaitable<absl::StatusOr<std::shared_ptr<const catalog::Route>>> Current(RouterState& router,
                                                                         std::string ns,
                                                                         CallScope scope) {
  router.cluster->Forget(ns);
  co_return co_await router.cluster->Lookup(ns, scope.deadline, scope.cancelled);
}

Awaitable<absl::StatusOr<std::shared_ptr<const catalog::Assignment>>> NewestAssignment(
    RouterState& router) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                               co_await ReadConfig(router, "assignments", bson::Document(), {}));
  std::shared_ptr<const catalog::Assignment> newest;
  for (const bson::Document& row : rows) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::Assignment assignment,
                                 catalog::Assignment::FromBson(row.view()));
    if (newest != nullptr && newest->version() > assignment.version()) continue;
    newest = std::make_shared<const catalog::Assignment>(std::move(assignment));
  }
  if (newest == nullptr) {
    co_return MakeError(ErrorCode::kInternalError, "config.assignments has no ranges");
  }
  co_return newest;
}

Awaitable<absl::StatusOr<catalog::Route>> RouteOf(RouterState& router,
                                                  catalog::CollectionEntry entry) {
  catalog::Route route;
  route.entry = std::make_shared<const catalog::CollectionEntry>(std::move(entry));
  if (!route.entry->sharded()) co_return route;
  const std::string& name = route.entry->assignment;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                               co_await ReadConfig(router, "assignments", ById(name), {}));
  if (rows.empty()) {
    co_return Error(ErrorCode::kInternalError, "config.assignments lacks the ranges '{}'", name);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::Assignment assignment,
                               catalog::Assignment::FromBson(rows.front().view()));
  route.assignment = std::make_shared<const catalog::Assignment>(std::move(assignment));
  co_return route;
}

catalog::CollectionEntry NextVersion(const catalog::CollectionEntry& entry) {
  catalog::CollectionEntry next = entry;
  ++next.version.value;
  return next;
}

}  // namespace evenkeel::router::ddl
