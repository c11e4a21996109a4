// Makes a new cluster's catalog, and finishes jobs after a restart.
#include <utility>

#include "base/bson/builder.h"
#include "base/log.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "catalog/config_collections.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/ddl.h"
#include "router/ddl/entries.h"
#include "router/ddl/move_progress.h"
#include "router/members/init_shard.h"
#include "router/members/shard_row.h"
#include "router/router.h"

namespace evenkeel::router::ddl {
namespace {

// A router that stops does not wait for a shard that is gone.
constexpr absl::Duration kFarewellTimeMax = absl::Seconds(1);
constexpr ShardId kCatalogShard{0};

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
      .Close()
      .OpenArray("moves");
  bson::ArrayAppender moves(out);
  for (const auto& move : router.moves->List()) moves.Add(move->Row());
  out.Close();
  return out.Finish();
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

// A new cluster, or one whose making was interrupted.
Awaitable<absl::Status> MakeCatalog(RouterState& router) {
  const auto members = router.cluster->members();
  const auto count = static_cast<uint32_t>(members->size());
  if (members->rbegin()->first.value + 1 != count) {
    co_return MakeError(ErrorCode::kInvalidOptions,
                        "the shards of a new cluster are numbered from shard0 on without gaps");
  }
  const catalog::Assignment ranges =
      catalog::Assignment::Equal(std::string(catalog::kDefaultAssignment), count);
  if (router.cluster_id.empty()) {
    router.cluster_id = bson::NewObjectId();
    // Of several routers that find a new cluster the first one names it.
    const absl::Status named = co_await InitShard(router, kCatalogShard, ranges);
    if (CodeOf(named) == ErrorCode::kAlreadyInitialized) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(router.cluster_id, co_await KnownClusterId(router));
    } else {
      EVENKEEL_CO_RETURN_IF_ERROR(named);
    }
  }
  CatalogBatch batch;
  batch.PutOnce(catalog::kConfigVersion, VersionDocument(router.cluster_id).view());
  batch.PutOnce(catalog::kConfigAssignments, ranges.ToBson().view());
  batch.PutOnce(catalog::kConfigSequences, ShardSequenceRow(count).view());
  const Timestamp now = router.clock->Now();
  for (const auto& [shard, member] : *members) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await router.cluster->WaitUntilUp(shard));
    EVENKEEL_CO_RETURN_IF_ERROR(co_await InitShard(router, shard, ranges));
    batch.PutOnce(catalog::kConfigShards, NewShardRow(shard, member.row.host, now).view());
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await batch.Commit(router));
  co_return co_await router.cluster->Refresh({});
}

// The row of a shard that this router knows at another address, or that has no version yet.
Awaitable<absl::Status> NotePresentHost(RouterState& router, bson::View document,
                                        std::string host) {
  const auto row = ShardRow::FromBson(document);
  if (row && row->host == host && row->version > 0) co_return absl::OkStatus();
  CatalogBatch batch;
  const std::string name(document["_id"].AsString());
  if (row && row->version > 0) {
    batch.ExpectVersion(catalog::kConfigShards, name, row->version);
  } else {
    batch.Expect(catalog::kConfigShards, name, true);
  }
  co_return co_await batch.Put(catalog::kConfigShards, WithHost(document, host).view())
      .Commit(router);
}

// Shards of this process that the catalog has never had.
Awaitable<absl::Status> AddEmbeddedShards(RouterState& router, const Membership::Members& given) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const uint32_t next, co_await router.cluster->NextShardNumber({}));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto ranges, co_await NewestAssignment(router));
  const Timestamp now = router.clock->Now();
  CatalogBatch batch;
  uint32_t after = next;
  for (const auto& [shard, member] : given) {
    if (shard.value < next) continue;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await InitShard(router, shard, *ranges));
    batch.PutOnce(catalog::kConfigShards, NewShardRow(shard, member.row.host, now).view());
    after = shard.value + 1;
  }
  co_return co_await batch.Put(catalog::kConfigSequences, ShardSequenceRow(after).view())
      .Commit(router);
}

// A cluster that has its catalog: who belongs to it is written in config.shards, whatever this
// router was told.
Awaitable<absl::Status> JoinCluster(RouterState& router, std::vector<bson::Document> known) {
  const auto given = router.cluster->members();
  for (const bson::Document& document : known) {
    const bson::Value id = document["_id"];
    const auto shard = id.Is(bson::Type::kString) ? ShardNamed(id.AsString()) : std::nullopt;
    const auto found = shard ? given->find(*shard) : given->end();
    if (found == given->end()) continue;
    const absl::Status noted =
        co_await NotePresentHost(router, document.view(), found->second.row.host);
    // Another router that starts has done it.
    if (!noted.ok() && CodeOf(noted) != ErrorCode::kConflictingOperationInProgress) co_return noted;
  }
  if (router.options.owns_shards) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await AddEmbeddedShards(router, *given));
  }
  // Catalogs of older versions lack the sequence.
  EVENKEEL_CO_ASSIGN_OR_RETURN(const uint32_t next, co_await router.cluster->NextShardNumber({}));
  CatalogBatch sequence;
  sequence.PutOnce(catalog::kConfigSequences, ShardSequenceRow(next).view());
  EVENKEEL_CO_RETURN_IF_ERROR(co_await sequence.Commit(router));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await router.cluster->Refresh({}));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto ranges, co_await NewestAssignment(router));
  const auto members = router.cluster->members();
  for (const auto& [shard, member] : *members) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await router.cluster->WaitUntilUp(shard));
    EVENKEEL_CO_RETURN_IF_ERROR(co_await InitShard(router, shard, *ranges));
  }
  for (const auto& [shard, member] : *given) {
    if (members->contains(shard)) continue;
    base::LogWarning("router", "the cluster file names a shard that is not in the cluster",
                     {{"shard", ShardName(shard)}, {"host", member.row.host}});
  }
  co_return absl::OkStatus();
}

}  // namespace

Awaitable<absl::Status> Bootstrap(RouterState& router) {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await router.cluster->WaitUntilUp(kCatalogShard));
  EVENKEEL_CO_ASSIGN_OR_RETURN(router.cluster_id, co_await KnownClusterId(router));
  std::vector<bson::Document> known;
  if (!router.cluster_id.empty()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(known,
                                 co_await ReadConfig(router, "shards", bson::Document(), {}));
  }
  if (known.empty()) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await MakeCatalog(router));
  } else {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await JoinCluster(router, std::move(known)));
  }
  co_return co_await NotePresence(router);
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
