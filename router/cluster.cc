// Calls to shards, and routes looked up in the catalog on shard 0.
#include "router/cluster.h"

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

constexpr ShardId kCatalogShard{0};
constexpr int64_t kRowsMax = 100'000;  // of config.shards

wire::Message MessageOf(bson::Document body) {
  auto owned = std::make_shared<const bson::Document>(std::move(body));
  wire::Message message;
  message.body = owned->view();
  message.owner = std::move(owned);
  return message;
}

// A find of all rows that match, in one batch.
bson::Document FindRequest(std::string_view collection, bson::View filter) {
  const auto entry = catalog::FindConfigCollection("config." + std::string(collection));
  EVENKEEL_CHECK(entry != nullptr);
  bson::Builder body;
  body.Append("find", collection).Append("filter", filter).Append("limit", kRowsMax);
  body.Append("batchSize", kRowsMax).Append("singleBatch", true).Append("$db", "config");
  wire::AppendEnvelope(body, {.collection = entry->id, .version = entry->version});
  return body.Finish();
}

absl::StatusOr<wire::Message> NoMember(ShardId shard) {
  return Error(ErrorCode::kStaleConfig, "{} is not a shard of the cluster", ShardName(shard));
}

Awaitable<void> SendInto(Cluster& cluster, ShardCall call, CallScope scope,
                         absl::StatusOr<wire::Message>& result) {
  result = co_await cluster.Send(std::move(call), std::move(scope));
}

}  // namespace

Cluster::Cluster(std::vector<ShardMember> members, OpenChannel open)
    : members_(std::move(members), std::move(open)) {}

std::vector<ShardId> Cluster::AllShards() const {
  std::vector<ShardId> shards;
  for (const auto& [shard, member] : *members_.Get()) shards.push_back(shard);
  return shards;
}

std::optional<ShardId> Cluster::FindShard(std::string_view name) const {
  const std::optional<ShardId> shard = ShardNamed(name);
  return shard && members_.Get()->contains(*shard) ? shard : std::nullopt;
}

Awaitable<absl::StatusOr<wire::Message>> Cluster::Send(ShardCall call, CallScope scope) {
  if (EVENKEEL_FAIL_POINT(router_before_scatter)) {
    co_return MakeError(ErrorCode::kHostUnreachable, "fail point router_before_scatter");
  }
  auto channel = members_.ChannelTo(call.shard);
  if (channel == nullptr) {
    // Another router may have added it.
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Refresh(scope));
    channel = members_.ChannelTo(call.shard);
  }
  if (channel == nullptr) co_return NoMember(call.shard);
  if (scope.transaction) scope.transaction->Join(call.shard, &call.message);
  if (scope.trace) call.message.operation = scope.trace->operation;
  auto reply =
      co_await channel->Call(std::move(call.message), scope.deadline, std::move(scope.cancelled));
  if (!reply.ok()) {
    // Nothing was done, and the shard has left the cluster meanwhile.
    const bool gone = CodeOf(reply.status()) == ErrorCode::kHostUnreachable &&
                      members_.ChannelTo(call.shard) == nullptr;
    co_return gone ? NoMember(call.shard) : std::move(reply);
  }
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

Awaitable<absl::StatusOr<std::vector<bson::Document>>> Cluster::ReadRows(
    std::string_view collection, bson::Document filter, CallScope scope) {
  ShardCall call{kCatalogShard, MessageOf(FindRequest(collection, filter))};
  scope.transaction = nullptr;  // the catalog is not the client's to have a snapshot of
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
  std::vector<bson::Document> rows;
  for (const auto& [key, row] : batch.AsDocument()) {
    if (row.Is(bson::Type::kObject)) rows.emplace_back(row.AsDocument());
  }
  co_return rows;
}

Awaitable<absl::StatusOr<bson::Document>> Cluster::FindConfig(std::string_view collection,
                                                              std::string_view id,
                                                              CallScope scope) {
  bson::Builder filter;
  filter.Append("_id", id);
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<bson::Document> rows,
                               co_await ReadRows(collection, filter.Finish(), std::move(scope)));
  if (rows.empty()) co_return bson::Document();
  co_return std::move(rows.front());
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
