// Finds what is to be moved, and has it moved.
#include "router/ddl/balancer.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/log.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "catalog/rebalance.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/copy_job.h"
#include "router/ddl/ddl.h"
#include "router/ddl/entries.h"
#include "router/ddl/job.h"
#include "router/ddl/job_record.h"
#include "router/router.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router::ddl {
namespace {

using AssignmentPtr = std::shared_ptr<const catalog::Assignment>;

// After a failed move. The reason may stay for long, as documents of one `_id` on two shards; a
// shard comes back, or gets room, at any time.
constexpr absl::Duration kRetryDelay = absl::Minutes(5), kPassingDelay = absl::Seconds(10);
constexpr absl::Duration kEvenOutPeriod = absl::Minutes(1);
// Shards that differ by less are about equally full.
constexpr int64_t kUnevenBytes = 128 << 20;
// Collections of one shard whose size is asked for in one round.
constexpr size_t kSizesMax = 1000;

// Counts the round that is under way.
class Round {
 public:
  explicit Round(Metrics& metrics) : metrics_(metrics) { metrics_.in_balancer_round = true; }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  ~Round() {
    metrics_.in_balancer_round = false;
    ++metrics_.balancer_rounds;
  }

 private:
  Metrics& metrics_;
};

struct Members {
  std::vector<ShardRow> rows;
  std::vector<ShardId> staying, leaving;  // ascending
};

Awaitable<absl::StatusOr<Members>> ReadMembers(RouterState& router) {
  Members members;
  EVENKEEL_CO_ASSIGN_OR_RETURN(members.rows, co_await router.cluster->ReadMembers({}));
  for (const ShardRow& row : members.rows) {
    (row.draining ? members.leaving : members.staying).push_back(row.shard);
  }
  std::sort(members.staying.begin(), members.staying.end());
  co_return members;
}

// The newest ranges, after new ones were made where these do not suit the shards that stay.
Awaitable<absl::StatusOr<AssignmentPtr>> WantedAssignment(RouterState& router,
                                                          const Members& members) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(AssignmentPtr newest, co_await NewestAssignment(router));
  if (members.staying.empty() || catalog::IsBalanced(*newest, members.staying)) co_return newest;
  std::string name = fmt::format("{}.{}", catalog::kDefaultAssignment, newest->version() + 1);
  auto next = std::make_shared<const catalog::Assignment>(
      catalog::Rebalanced(*newest, std::move(name), members.staying));
  CatalogBatch batch;
  batch.Expect(catalog::kConfigAssignments, next->name(), false)
      .Put(catalog::kConfigAssignments, next->ToBson().view());
  // A shard that is to leave, or has left, since the rows were read gets no ranges.
  for (const ShardRow& row : members.rows) {
    batch.ExpectVersion(catalog::kConfigShards, ShardName(row.shard), row.version);
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await batch.Commit(router));
  base::LogInfo("balancer", "new ranges for the shards that stay",
                {{"name", next->name()}, {"shards", members.staying.size()}});
  co_return next;
}

// Sharded collections that have other ranges.
bson::Document WithOtherRanges(const catalog::Assignment& newest) {
  bson::Builder filter;
  filter.OpenDocument("assignment").Append("$exists", true).Append("$ne", newest.name()).Close();
  return filter.Finish();
}

// Unsharded collections of these shards.
bson::Document UnshardedOn(const std::vector<ShardId>& shards) {
  bson::Builder filter;
  filter.Append("kind", "collection").OpenDocument("key").Append("$exists", false).Close();
  filter.OpenDocument("primary").OpenArray("$in");
  bson::ArrayAppender ids(filter);
  for (const ShardId shard : shards) ids.Add(static_cast<int32_t>(shard.value));
  filter.Close().Close();
  return filter.Finish();
}

// Looks at the newest ranges again: those of the round may have become old while it lasts, and name
// shards that have left.
Awaitable<absl::StatusOr<Job>> PlanMoveRanges(RouterState& router, std::string ns,
                                              CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const AssignmentPtr newest, co_await NewestAssignment(router));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto route, co_await Current(router, ns, scope));
  if (route == nullptr || !route->assignment || route->assignment->name() == newest->name()) {
    co_return Job{};
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const uint64_t id, co_await AllocateIds(router, 3));
  co_return MoveRangesJob(router, *route, *newest, CollectionId{id});
}

Awaitable<absl::Status> MoveRangesOf(RouterState& router, std::string ns, CallScope scope) {
  Plan plan = [&router, &ns, &scope] { return PlanMoveRanges(router, ns, scope); };
  co_return co_await RunBalancingJob(router, ns, scope, std::move(plan));
}

// Bytes of documents on a shard.
Awaitable<absl::StatusOr<int64_t>> FillOf(RouterState& router, ShardId shard) {
  bson::Builder body;
  body.Append("_shardStats", int32_t{1});
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document stats,
      co_await router.cluster->Call(shard, body.Finish(), absl::InfiniteFuture(), {}));
  co_return bson::ToInt64Truncated(stats["dataBytes"]);
}

Awaitable<absl::StatusOr<int64_t>> SizeOf(RouterState& router,
                                          const catalog::CollectionEntry& entry) {
  bson::Builder body;
  body.Append("_collStats", int32_t{1});
  wire::AppendEnvelope(body, {.collection = entry.id, .version = entry.version});
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document stats,
      co_await router.cluster->Call(entry.primary, body.Finish(), absl::InfiniteFuture(), {}));
  co_return bson::ToInt64Truncated(stats["size"]);
}

// The biggest unsharded collection of a shard that is not bigger than `bytes_max`; empty: none.
Awaitable<absl::StatusOr<std::string>> BiggestUpTo(RouterState& router, ShardId shard,
                                                   int64_t bytes_max) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> rows,
      co_await ReadConfig(router, "catalog", UnshardedOn(std::vector<ShardId>(1, shard)), {}));
  std::string biggest;
  int64_t most = 0;
  for (size_t i = 0; i < std::min(rows.size(), kSizesMax); ++i) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const catalog::CollectionEntry entry,
                                 catalog::CollectionEntry::FromBson(rows[i].view()));
    const auto size = co_await SizeOf(router, entry);
    if (!size.ok() || *size <= most || *size > bytes_max) continue;
    most = *size;
    biggest = entry.ns;
  }
  co_return biggest;
}

}  // namespace

Awaitable<absl::StatusOr<bool>> IsBalancerOn(RouterState& router) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> settings,
                               co_await ReadConfig(router, "settings", ById("balancer"), {}));
  co_return settings.empty() || !bson::Truthy(settings.front()["stopped"]);
}

Awaitable<void> Balancer::Try(RouterState& router, const std::string& ns, const Work& work,
                              CallScope scope) {
  const auto waits = not_before_.find(ns);
  if (waits != not_before_.end() && router.wall->Now() < waits->second) co_return;
  not_before_.erase(ns);
  const absl::Status status = co_await work(scope);
  // Somebody else has something to do with the collection: the next round tries again.
  const bool interrupted = CodeOf(status) == ErrorCode::kReshardCollectionAborted ||
                           CodeOf(status) == ErrorCode::kConflictingOperationInProgress;
  if (status.ok() || interrupted || IsStop(router, status)) co_return;
  const bool passes =
      Is(status, kNetwork) || Is(status, kShutdown) || CodeOf(status) == ErrorCode::kOutOfDiskSpace;
  not_before_[ns] = router.wall->Now() + (passes ? kPassingDelay : kRetryDelay);
  base::LogWarning("balancer", "a collection could not be moved; tried again later",
                   {{"ns", ns}, {"error", status}});
}

Awaitable<absl::Status> Balancer::MoveRanges(RouterState& router, AssignmentPtr newest,
                                             CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> rows,
      co_await ReadConfig(router, "catalog", WithOtherRanges(*newest), {}));
  for (const bson::Document& row : rows) {
    if (scope.cancelled.IsCancelled()) co_return absl::OkStatus();
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bool on, co_await IsBalancerOn(router));
    if (!on) co_return absl::OkStatus();
    const std::string ns(row["_id"].AsString());
    const Work work = [&router, &ns](CallScope within) {
      return MoveRangesOf(router, ns, std::move(within));
    };
    co_await Try(router, ns, work, scope);
  }
  co_return absl::OkStatus();
}

Awaitable<absl::Status> Balancer::EmptyShards(RouterState& router, std::vector<ShardId> leaving,
                                              CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                               co_await ReadConfig(router, "catalog", UnshardedOn(leaving), {}));
  for (const bson::Document& row : rows) {
    if (scope.cancelled.IsCancelled()) co_return absl::OkStatus();
    const std::string ns(row["_id"].AsString());
    EVENKEEL_CO_ASSIGN_OR_RETURN(const ShardId to, co_await EmptiestShard(router));
    const Work work = [&router, &ns, to](CallScope within) {
      return PlaceCollection(router, ns, to, std::move(within));
    };
    co_await Try(router, ns, work, scope);
  }
  co_return absl::OkStatus();
}

Awaitable<absl::Status> Balancer::EvenOut(RouterState& router, std::vector<ShardId> members,
                                          CallScope scope) {
  if (router.wall->Now() < next_even_out_) co_return absl::OkStatus();
  next_even_out_ = router.wall->Now() + kEvenOutPeriod;
  std::vector<std::pair<int64_t, ShardId>> fills;
  for (const ShardId shard : members) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const int64_t bytes, co_await FillOf(router, shard));
    fills.emplace_back(bytes, shard);
  }
  const auto [least, most] = std::minmax_element(fills.begin(), fills.end());
  const int64_t difference = most->first - least->first;
  if (difference < kUnevenBytes) co_return absl::OkStatus();
  // One that is smaller than the difference makes it smaller.
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns,
                               co_await BiggestUpTo(router, most->second, difference - 1));
  if (ns.empty()) co_return absl::OkStatus();
  const Work work = [&router, &ns, to = least->second](CallScope within) {
    return PlaceCollection(router, ns, to, std::move(within));
  };
  co_await Try(router, ns, work, scope);
  co_return absl::OkStatus();
}

Awaitable<absl::Status> Balancer::RunRound(RouterState& router, base::CancellationToken cancelled) {
  const CallScope scope{absl::InfiniteFuture(), cancelled, nullptr};
  EVENKEEL_CO_RETURN_IF_ERROR((co_await routers_.Look(router)).status());
  if (!router.options.owns_shards && !routers_.Leads(router)) co_return absl::OkStatus();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bool on, co_await IsBalancerOn(router));
  if (!on) co_return absl::OkStatus();
  const Round round(router.metrics);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Members members, co_await ReadMembers(router));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const AssignmentPtr newest,
                               co_await WantedAssignment(router, members));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await MoveRanges(router, newest, scope));
  if (!members.leaving.empty()) {
    co_return co_await EmptyShards(router, members.leaving, scope);
  }
  co_return co_await EvenOut(router, members.staying, scope);
}

}  // namespace evenkeel::router::ddl
