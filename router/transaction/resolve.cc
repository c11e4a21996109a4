// Looks after what dead routers have left.
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/log.h"
#include "base/status.h"
#include "router/cluster.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/transaction/commit.h"

namespace evenkeel::router {
namespace {

constexpr absl::Duration kCallTimeMax = absl::Seconds(5);

Awaitable<absl::StatusOr<wire::Message>> Ask(RouterState& router, ShardId shard,
                                             bson::Document body,
                                             base::CancellationToken cancelled) {
  CallScope scope{router.wall->Now() + kCallTimeMax, std::move(cancelled)};
  ShardCall call{shard, MakeMessage(std::move(body))};
  co_return co_await router.cluster->Send(std::move(call), std::move(scope));
}

// {name: 1, lsid, txnNumber} of a row of _listPrepared.
bson::Builder CommandOf(std::string_view name, bson::View row) {
  bson::Builder body;
  body.Append(name, int32_t{1}).Append("$db", "admin");
  body.Append("lsid", row["lsid"]).Append("txnNumber", row["txnNumber"]);
  return body;
}

bool IsOld(bson::View row, absl::Duration age) {
  return absl::Seconds(bson::ToInt64Truncated(row["seconds"])) >= age;
}

ShardId ShardOf(bson::Value number) {
  return ShardId{static_cast<uint32_t>(bson::ToInt64Truncated(number))};
}

// Asks the coordinator, then tells the participant.
Awaitable<absl::Status> ResolvePrepared(RouterState& router, ShardId participant, bson::View row,
                                        base::CancellationToken cancelled) {
  auto answer = co_await Ask(router, ShardOf(row["coordinator"]),
                             CommandOf("_decisionOf", row).Finish(), cancelled);
  // The coordinator keeps decisions until all participants know: an older number was not committed.
  const bool gone_on = !answer.ok() && CodeOf(answer.status()) == ErrorCode::kTransactionTooOld;
  if (!answer.ok() && !gone_on) co_return answer.status();
  bson::Builder apply = CommandOf("_applyDecision", row);
  if (answer.ok()) apply.Append("commitAt", answer->body["committedAt"]);
  co_return (co_await Ask(router, participant, apply.Finish(), std::move(cancelled))).status();
}

// Tells all participants of a decision, then lets the coordinator forget it.
Awaitable<absl::Status> ResolveDecision(RouterState& router, ShardId coordinator, bson::View row,
                                        base::CancellationToken cancelled) {
  for (const auto& [key, shard] : row["participants"].AsDocument()) {
    bson::Builder apply = CommandOf("_applyDecision", row);
    apply.Append("commitAt", row["committedAt"]);
    EVENKEEL_CO_RETURN_IF_ERROR(
        (co_await Ask(router, ShardOf(shard), apply.Finish(), cancelled)).status());
  }
  co_return (co_await Ask(router, coordinator, CommandOf("_forgetDecision", row).Finish(),
                          std::move(cancelled)))
      .status();
}

Awaitable<absl::Status> ResolveShard(RouterState& router, ShardId shard, absl::Duration age,
                                     base::CancellationToken cancelled) {
  bson::Builder list;
  list.Append("_listPrepared", int32_t{1}).Append("$db", "admin");
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message found,
                               co_await Ask(router, shard, list.Finish(), cancelled));
  // One that cannot be resolved does not keep the others.
  absl::Status first;
  for (const auto& [key, row] : found.body["prepared"].AsDocument()) {
    if (!IsOld(row.AsDocument(), age)) continue;
    const absl::Status status =
        co_await ResolvePrepared(router, shard, row.AsDocument(), cancelled);
    first.Update(status);
  }
  for (const auto& [key, row] : found.body["decisions"].AsDocument()) {
    if (!IsOld(row.AsDocument(), age)) continue;
    const absl::Status status =
        co_await ResolveDecision(router, shard, row.AsDocument(), cancelled);
    first.Update(status);
  }
  co_return first;
}

}  // namespace

Awaitable<void> ResolveTransactions(RouterState& router, absl::Duration age,
                                    base::CancellationToken cancelled) {
  for (const ShardId shard : router.cluster->AllShards()) {
    if (cancelled.IsCancelled()) co_return;
    const absl::Status status = co_await ResolveShard(router, shard, age, cancelled);
    if (status.ok() || cancelled.IsCancelled()) continue;
    base::LogInfo("router", "transactions in doubt are left for later",
                  {{"shard", Cluster::ShardName(shard)}, {"error", status}});
  }
}

}  // namespace evenkeel::router
