// Looks for what lies on a shard: in the catalog, and in the shards for transactions in doubt.
#include "router/members/holdings.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/entries.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router {
namespace {

using RangesByAssignment = std::map<std::string, int64_t, std::less<>>;

Awaitable<absl::StatusOr<RangesByAssignment>> RangesOf(RouterState& router, ShardId shard,
                                                       CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                               co_await ReadConfig(router, "assignments", bson::Document(), scope));
  RangesByAssignment found;
  for (const bson::Document& row : rows) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const catalog::Assignment assignment,
                                 catalog::Assignment::FromBson(row.view()));
    const auto ranges = assignment.ranges();
    found[assignment.name()] =
        std::count_if(ranges.begin(), ranges.end(),
                      [shard](const catalog::HashRange& range) { return range.owner == shard; });
  }
  co_return found;
}

// Prepared transactions that wait for the shard's decision or lie on it, and its decisions that
// others may not know.
int64_t InDoubt(bson::View reply, bool own, ShardId shard) {
  int64_t count = 0;
  for (const auto& [key, row] : reply["prepared"].AsDocument()) {
    const int64_t coordinator = bson::ToInt64Truncated(row.AsDocument()["coordinator"]);
    if (own || coordinator == static_cast<int64_t>(shard.value)) ++count;
  }
  return own ? count + reply["decisions"].AsDocument().CountFields() : count;
}

Awaitable<absl::StatusOr<int64_t>> CountInDoubt(RouterState& router, ShardId shard,
                                                CallScope scope) {
  scope.transaction = nullptr;
  const std::vector<ShardId> shards = router.cluster->AllShards();
  std::vector<ShardCall> calls;
  for (const ShardId each : shards) {
    bson::Builder body;
    body.Append("_listPrepared", int32_t{1}).Append("$db", "admin");
    calls.push_back({each, MakeMessage(body.Finish())});
  }
  const auto replies = co_await router.cluster->SendAll(std::move(calls), scope);
  int64_t count = 0;
  for (size_t i = 0; i < replies.size(); ++i) {
    // One that is no member any more had nothing to tell when it went.
    if (CodeOf(replies[i].status()) == ErrorCode::kStaleConfig) continue;
    if (!replies[i].ok()) co_return Annotate(replies[i].status(), ShardName(shards[i]));
    count += InDoubt(replies[i]->body, shards[i] == shard, shard);
  }
  co_return count;
}

}  // namespace

std::set<std::string> Holdings::databases() const {
  std::set<std::string> found;
  for (const std::string& ns : collections) {
    found.emplace(catalog::SplitNamespace(ns).database);
  }
  return found;
}

Awaitable<absl::StatusOr<Holdings>> HoldingsOf(RouterState& router, ShardId shard,
                                               CallScope scope) {
  Holdings holdings;
  // Jobs first: one that ends meanwhile is seen in the catalog.
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> jobs,
                               co_await ReadConfig(router, "jobs", bson::Document(), scope));
  holdings.jobs = static_cast<int64_t>(jobs.size());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> entries,
                               co_await ReadConfig(router, "catalog", bson::Document(), scope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RangesByAssignment ranges,
                               co_await RangesOf(router, shard, scope));
  std::set<std::string> used;
  for (const bson::Document& row : entries) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const catalog::CollectionEntry entry,
                                 catalog::CollectionEntry::FromBson(row.view()));
    if (entry.kind == catalog::CollectionKind::kView) continue;
    if (entry.sharded()) {
      used.insert(entry.assignment);
      const auto found = ranges.find(entry.assignment);
      if (found != ranges.end()) holdings.ranges += found->second;
    } else if (entry.primary == shard) {
      holdings.collections.push_back(entry.ns);
    }
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto of_new, co_await ddl::NewestAssignment(router));
  if (!used.contains(of_new->name())) holdings.ranges += ranges.find(of_new->name())->second;
  EVENKEEL_CO_ASSIGN_OR_RETURN(holdings.in_doubt, co_await CountInDoubt(router, shard, scope));
  co_return holdings;
}

void AppendToMove(const Holdings& holdings, bson::Builder* reply) {
  reply->Append("note", "collections and ranges are moved by the balancer, while it is on");
  reply->OpenArray("dbsToMove");
  bson::ArrayAppender databases(*reply);
  for (const std::string& database : holdings.databases()) databases.Add(database);
  reply->Close().OpenArray("collectionsToMove");
  bson::ArrayAppender collections(*reply);
  for (const std::string& ns : holdings.collections) collections.Add(ns);
  reply->Close();
}

void AppendRemaining(const Holdings& holdings, bson::Builder* reply) {
  reply->OpenDocument("remaining")
      .Append("chunks", holdings.ranges)
      .Append("dbs", static_cast<int64_t>(holdings.databases().size()))
      .Append("jumboChunks", int64_t{0})
      .Append("collectionsToMove", static_cast<int64_t>(holdings.collections.size()))
      .Append("jobs", holdings.jobs)
      .Append("transactions", holdings.in_doubt)
      .Close();
}

}  // namespace evenkeel::router
