// The part of Cluster that follows config.shards.
#include <algorithm>
#include <utility>

#include "base/bson/number.h"
#include "base/log.h"
#include "base/status.h"
#include "router/cluster.h"

namespace evenkeel::router {

Awaitable<absl::StatusOr<std::vector<ShardRow>>> Cluster::ReadMembers(CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> documents,
                               co_await ReadRows("shards", bson::Document(), std::move(scope)));
  std::vector<ShardRow> rows;
  for (const bson::Document& document : documents) {
    if (auto row = ShardRow::FromBson(document)) rows.push_back(*std::move(row));
  }
  co_return rows;
}

Awaitable<absl::Status> Cluster::Refresh(CallScope scope) {
  const uint64_t reading = members_.BeginReading();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<ShardRow> rows,
                               co_await ReadMembers(std::move(scope)));
  const auto has_catalog = [](const ShardRow& row) { return row.shard == ShardId{0}; };
  // Nothing is known of a cluster whose catalog does not even list the shard that it lies on.
  if (std::none_of(rows.begin(), rows.end(), has_catalog)) co_return absl::OkStatus();
  const auto given_up = members_.Set(reading, rows);
  for (const auto& channel : given_up) co_await channel->Stop();
  co_return absl::OkStatus();
}

Awaitable<absl::StatusOr<ShardId>> Cluster::ResolveShard(std::string name, CallScope scope) {
  std::optional<ShardId> shard = FindShard(name);
  if (!shard && ShardNamed(name)) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Refresh(std::move(scope)));
    shard = FindShard(name);
  }
  if (!shard) co_return Error(ErrorCode::kShardNotFound, "Shard {} not found", name);
  co_return *shard;
}

Awaitable<absl::StatusOr<uint32_t>> Cluster::NextShardNumber(CallScope scope) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document row,
                               co_await FindConfig("sequences", kShardSequence, scope));
  const bson::Value version = row["version"];
  if (version.IsNumber()) co_return static_cast<uint32_t>(bson::ToInt64Truncated(version));
  // A catalog that has never had a shard added or removed.
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<ShardRow> rows,
                               co_await ReadMembers(std::move(scope)));
  uint32_t next = 0;
  for (const ShardRow& known : rows) next = std::max(next, known.shard.value + 1);
  co_return next;
}

Awaitable<absl::Status> Cluster::WaitUntilUp(ShardId shard) {
  const auto channel = members_.ChannelTo(shard);
  if (channel == nullptr) co_return absl::OkStatus();
  co_return co_await channel->WaitUntilUp({});
}

std::shared_ptr<wire::ShardChannel> Cluster::Open(const std::string& name,
                                                  const std::string& host) const {
  return members_.open() ? members_.open()(name, host) : nullptr;
}

Awaitable<void> Cluster::Stop() {
  for (const auto& [shard, member] : *members_.Get()) co_await member.channel->Stop();
}

}  // namespace evenkeel::router
