// Makes a new cluster's catalog, and finishes jobs after a restart.
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "catalog/config_collections.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/ddl.h"
#include "router/router.h"

namespace evenkeel::router::ddl {
namespace {

// A router that stops does not wait for a shard that is gone.
constexpr absl::Duration kFarewellTimeMax = absl::Seconds(1);

// As MongoDB shows the replica set of a shard.
std::string ShardHost(const RouterState& router, ShardId shard) {
  const RouterOptions& options = router.options;
  return fmt::format("{}/{}", Cluster::ShardName(shard),
                     options.shard_hosts.empty() ? fmt::format("{}:{}", options.host, options.port)
                                                 : options.shard_hosts[shard.value]);
}

bson::Document ShardDocument(const RouterState& router, ShardId shard, Timestamp now) {
  bson::Builder out;
  out.Append("_id", Cluster::ShardName(shard))
      .Append("host", ShardHost(router, shard))
      .Append("state", int32_t{1})
      .Append("topologyTime", now)
      .Append("replSetConfigVersion", int64_t{-1});
  return out.Finish();
}

// The same shard after a start, at its present address.
bson::Document WithPresentHost(const RouterState& router, bson::View document) {
  const auto shard = router.cluster->FindShard(document["_id"].AsString());
  bson::Builder out;
  for (const auto& [name, value] : document) {
    if (name == "host" && shard) {
      out.Append(name, ShardHost(router, *shard));
    } else {
      out.Append(name, value);
    }
  }
  return out.Finish();
}

bson::Document VersionDocument(std::string_view cluster_id) {
  bson::Builder out;
  out.Append("_id", int32_t{1})
      .Append("minCompatibleVersion", int32_t{5})
      .Append("currentVersion", int32_t{6})
      .AppendObjectId("clusterId", cluster_id);
  return out.Finish();
}

bson::Document RouterDocument(const RouterState& router) {
  bson::Builder out;
  out.Append("_id", fmt::format("{}:{}", router.options.host, router.options.port))
      .AppendObjectId("process", router.process_id)
      .AppendDate("ping", absl::ToUnixMillis(router.wall->Now()))
      .AppendDate("created", absl::ToUnixMillis(router.started))
      .Append("up", int64_t{0})
      .Append("waiting", true)
      .Append("mongoVersion", router.options.version)
      .Append("evenkeelVersion", router.options.evenkeel_version)
      .OpenArray("advisoryHostFQDNs")
      .Close();
  return out.Finish();
}

// Equal ranges for the shards there are.
catalog::Assignment AssignmentOf(const RouterState& router) {
  return catalog::Assignment::Equal(std::string(catalog::kDefaultAssignment),
                                    static_cast<uint32_t>(router.cluster->shard_count()));
}

// Gives a shard its identity; repeatable with the same arguments.
Awaitable<absl::Status> InitShard(RouterState& router, ShardId shard,
                                  catalog::Assignment assignment) {
  bson::Builder body;
  body.Append("_initShard", int32_t{1})
      .AppendObjectId("clusterId", router.cluster_id)
      .Append("shard", static_cast<int32_t>(shard.value))
      .Append("assignment", assignment.ToBson());
  co_return (co_await router.cluster->Call(shard, body.Finish(), absl::InfiniteFuture(), {}))
      .status();
}

Awaitable<absl::Status> InitShards(RouterState& router, const catalog::Assignment& assignment) {
  for (const ShardId shard : router.cluster->AllShards()) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await InitShard(router, shard, assignment));
  }
  co_return absl::OkStatus();
}

Awaitable<absl::StatusOr<std::string>> KnownClusterId(RouterState& router) {
  bson::Builder body;
  body.Append("_shardStats", int32_t{1});
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document stats,
      co_await router.cluster->Call(ShardId{0}, body.Finish(), absl::InfiniteFuture(), {}));
  const bson::Value id = stats["clusterId"];
  co_return id.Is(bson::Type::kObjectId) ? std::string(id.AsObjectId()) : std::string();
}

}  // namespace

Awaitable<absl::Status> Bootstrap(RouterState& router) {
  const auto shard_count = static_cast<uint32_t>(router.cluster->shard_count());
  EVENKEEL_CO_ASSIGN_OR_RETURN(router.cluster_id, co_await KnownClusterId(router));
  const bool is_new = router.cluster_id.empty();
  if (is_new) {
    router.cluster_id = bson::NewObjectId();
    // Of several routers that find a new cluster the first one names it.
    const absl::Status named = co_await InitShard(router, ShardId{0}, AssignmentOf(router));
    if (CodeOf(named) == ErrorCode::kAlreadyInitialized) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(router.cluster_id, co_await KnownClusterId(router));
    } else {
      EVENKEEL_CO_RETURN_IF_ERROR(named);
    }
  }
  std::vector<bson::Document> known;
  if (!is_new) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(known,
                                 co_await ReadConfig(router, "shards", bson::Document(), {}));
  }
  if (!known.empty() && known.size() != shard_count) {
    co_return Error(ErrorCode::kInvalidOptions, "the data hold {} shards, {} were asked for",
                    known.size(), shard_count);
  }
  const catalog::Assignment assignment = AssignmentOf(router);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await InitShards(router, assignment));
  CatalogBatch batch;
  if (known.empty()) {
    const Timestamp now = router.clock->Now();
    batch.PutOnce(catalog::kConfigVersion, VersionDocument(router.cluster_id).view());
    batch.PutOnce(catalog::kConfigAssignments, assignment.ToBson().view());
    for (const ShardId shard : router.cluster->AllShards()) {
      batch.Put(catalog::kConfigShards, ShardDocument(router, shard, now).view());
    }
  }
  for (const bson::Document& shard : known) {
    batch.Put(catalog::kConfigShards, WithPresentHost(router, shard.view()).view());
  }
  batch.Put(catalog::kConfigMongos, RouterDocument(router).view());
  co_return co_await batch.Commit(router);
}

Awaitable<absl::Status> NotePresence(RouterState& router) {
  CatalogBatch batch;
  co_return co_await batch.Put(catalog::kConfigMongos, RouterDocument(router).view())
      .Commit(router);
}

Awaitable<absl::Status> RemovePresence(RouterState& router) {
  CatalogBatch batch;
  co_return co_await batch
      .Remove(catalog::kConfigMongos,
              fmt::format("{}:{}", router.options.host, router.options.port))
      .Commit(router, router.wall->Now() + kFarewellTimeMax);
}

}  // namespace evenkeel::router::ddl
