// Calls to shards, and routes looked up in the catalog on shard 0.
#include "router/cluster.h"

#include <charconv>
#include <functional>
#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/check.h"
#include "base/fail_point.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/operation_trace.h"
#include "router/transaction/transaction.h"
#include "wire/protocol/error_reply.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router {
namespace {

constexpr std::string_view kShardPrefix = "shard";

wire::Message MessageOf(bson::Document body) {
  auto owned = std::make_shared<const bson::Document>(std::move(body));
  wire::Message message;
  message.body = owned->view();
  message.owner = std::move(owned);
  return message;
}

// {find: collection, filter: {_id: id}} on shard 0.
bson::Document FindByIdRequest(std::string_view collection, std::string_view id) {
  const auto entry = catalog::FindConfigCollection("config." + std::string(collection));
  EVENKEEL_CHECK(entry != nullptr);
  bson::Builder body;
  body.Append("find", collection).OpenDocument("filter").Append("_id", id).Close();
  body.Append("limit", int64_t{1}).Append("singleBatch", true).Append("$db", "config");
  wire::AppendEnvelope(body, {.collection = entry->id, .version = entry->version});
  return body.Finish();
}

Awaitable<void> SendInto(Cluster& cluster, ShardCall call, CallScope scope,
                         absl::StatusOr<wire::Message>& result) {
  result = co_await cluster.Send(std::move(call), std::move(scope));
}

}  // namespace

Cluster::Cluster(std::vector<std::unique_ptr<wire::ShardChannel>> channels)
    : channels_(std::move(channels)) {}

std::vector<ShardId> Cluster::AllShards() const {
  std::vector<ShardId> shards(channels_.size());
  for (uint32_t i = 0; i < shards.size(); ++i) shards[i] = ShardId{i};
  return shards;
}

std::string Cluster::ShardName(ShardId shard) {
  return std::string(kShardPrefix) + std::to_string(shard.value);
}

std::optional<ShardId> Cluster::FindShard(std::string_view name) const {
  if (!name.starts_with(kShardPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kShardPrefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (number >= channels_.size() || ShardName(ShardId{number}) != name) return std::nullopt;
  return ShardId{number};
}

Awaitable<absl::StatusOr<wire::Message>> Cluster::Send(ShardCall call, CallScope scope) {
  EVENKEEL_CHECK(call.shard.value < channels_.size());
  if (EVENKEEL_FAIL_POINT(router_before_scatter)) {
    co_return MakeError(ErrorCode::kHostUnreachable, "fail point router_before_scatter");
  }
  wire::ShardChannel& channel = *channels_[call.shard.value];
  if (scope.transaction) scope.transaction->Join(call.shard, &call.message);
  if (scope.trace) call.message.operation = scope.trace->operation;
  auto reply =
      co_await channel.Call(std::move(call.message), scope.deadline, std::move(scope.cancelled));
  if (!reply.ok()) co_return reply;
  if (EVENKEEL_FAIL_POINT(router_drop_reply)) {
    co_return MakeError(ErrorCode::kNetworkTimeout, "fail point router_drop_reply");
  }
  if (scope.trace) scope.trace->Note(call.shard, reply->body);
  if (clock_) {
    if (const bson::Value time = reply->body["operationTime"]; time.Is(bson::Type::kTimestamp)) {
      clock_->Observe(time.AsTimestamp());
    }
  }
  EVENKEEL_CO_RETURN_IF_ERROR(wire::StatusOfReply(reply->body));
  if (scope.transaction) scope.transaction->Note(call.shard, reply->body);
  co_return reply;
}

Awaitable<std::vector<absl::StatusOr<wire::Message>>> Cluster::SendAll(std::vector<ShardCall> calls,
                                                                       CallScope scope) {
  std::vector<absl::StatusOr<wire::Message>> results(calls.size());
  std::vector<std::function<Awaitable<void>()>> tasks;
  tasks.reserve(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    tasks.emplace_back([this, &call = calls[i], &scope, &result = results[i]] {
      return SendInto(*this, std::move(call), scope, result);
    });
  }
  co_await base::WhenAll(std::move(tasks));
  co_return results;
}

Awaitable<absl::StatusOr<bson::Document>> Cluster::Call(ShardCall call, absl::Time deadline,
                                                        base::CancellationToken cancelled) {
  CallScope scope{deadline, std::move(cancelled), nullptr};
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply,
                               co_await Send(std::move(call), std::move(scope)));
  co_return bson::Document(reply.body);
}

Awaitable<absl::StatusOr<bson::Document>> Cluster::Call(ShardId shard, bson::Document body,
                                                        absl::Time deadline,
                                                        base::CancellationToken cancelled) {
  ShardCall call{shard, MessageOf(std::move(body))};
  co_return co_await Call(std::move(call), deadline, std::move(cancelled));
}

Awaitable<std::vector<absl::StatusOr<bson::Document>>> Cluster::CallAll(
    std::vector<ShardCall> calls, absl::Time deadline, base::CancellationToken cancelled) {
  CallScope scope{deadline, std::move(cancelled), nullptr};
  auto replies = co_await SendAll(std::move(calls), std::move(scope));
  std::vector<absl::StatusOr<bson::Document>> documents;
  documents.reserve(replies.size());
  for (const auto& reply : replies) {
    if (reply.ok()) {
      documents.emplace_back(bson::Document(reply->body));
    } else {
      documents.emplace_back(reply.status());
    }
  }
  co_return documents;
}

Awaitable<absl::StatusOr<bson::Document>> Cluster::FindConfig(std::string_view collection,
                                                              std::string_view id,
                                                              CallScope scope) {
  ShardCall call{ShardId{0}, MessageOf(FindByIdRequest(collection, id))};
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply,
                               co_await Send(std::move(call), std::move(scope)));
  const bson::Value cursor = reply.body["cursor"];
  if (!cursor.Is(bson::Type::kObject)) {
    co_return MakeError(ErrorCode::kInternalError, "a shard's reply to find lacks a cursor");
  }
  const bson::Value batch = cursor.AsDocument()["firstBatch"];
  if (!batch.Is(bson::Type::kArray)) {
    co_return MakeError(ErrorCode::kInternalError, "a shard's reply to find lacks a batch");
  }
  const bson::Value first = batch.AsDocument().Front().value;
  if (!first.Is(bson::Type::kObject)) co_return bson::Document();
  co_return bson::Document(first.AsDocument());
}

Awaitable<absl::StatusOr<std::shared_ptr<const catalog::Route>>> Cluster::Lookup(
    std::string_view ns, absl::Time deadline, base::CancellationToken cancelled) {
  if (auto known = routes_.Find(ns)) co_return known;
  auto route = std::make_shared<catalog::Route>();
  if (catalog::SplitNamespace(ns).database == "config") {
    route->entry = catalog::FindConfigCollection(ns);
    if (!route->entry) co_return nullptr;
    routes_.Put(route);
    co_return route;
  }
  const std::string name(ns);
  const CallScope scope{deadline, std::move(cancelled), nullptr};
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document row,
                               co_await FindConfig("catalog", name, scope));
  if (row.empty()) co_return nullptr;
  EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::CollectionEntry entry,
                               catalog::CollectionEntry::FromBson(row));
  if (entry.sharded()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document ranges,
                                 co_await FindConfig("assignments", entry.assignment, scope));
    EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::Assignment assignment,
                                 catalog::Assignment::FromBson(ranges));
    route->assignment = std::make_shared<const catalog::Assignment>(std::move(assignment));
  }
  route->entry = std::make_shared<const catalog::CollectionEntry>(std::move(entry));
  routes_.Put(route);
  co_return route;
}

}  // namespace evenkeel::router
