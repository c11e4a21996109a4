// Implements the shard's side of the connection to routers.
#include "cli/shard_handler.h"

#include <absl/time/clock.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/log.h"
#include "base/status.h"
#include "wire/net/cluster_key.h"
#include "wire/protocol/error_reply.h"
#include "wire/protocol/peer_fields.h"

namespace evenkeel::cli {

absl::StatusOr<bson::Document> ShardHandler::Greet(const wire::ClientState& client,
                                                   bson::View body) {
  const std::string_view other = wire::ClusterBytes(body, "nonce");
  if (other.size() != wire::kClusterNonceBytes) {
    return MakeError(ErrorCode::kBadValue, "_hello needs a nonce of 32 bytes");
  }
  Greeting greeting{wire::NewClusterNonce(), std::string(other)};
  bson::Builder reply;
  reply.AppendBinary("nonce", 0, greeting.own)
      .AppendBinary("proof", 0,
                    wire::ClusterProof(cluster_key_, "shard", greeting.own, greeting.other));
  absl::MutexLock lock(&mutex_);
  greetings_[client.connection_id] = std::move(greeting);
  return reply.Finish();
}

absl::StatusOr<bson::Document> ShardHandler::Authenticate(wire::ClientState& client,
                                                          bson::View body) {
  Greeting greeting;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = greetings_.find(client.connection_id);
    if (found == greetings_.end()) {
      return MakeError(ErrorCode::kAuthenticationFailed, "_authenticate comes after _hello");
    }
    greeting = std::move(found->second);
    greetings_.erase(found);
  }
  const std::string expected =
      wire::ClusterProof(cluster_key_, "router", greeting.other, greeting.own);
  if (!wire::IsSameProof(wire::ClusterBytes(body, "proof"), expected)) {
    base::LogWarning("shard", "refused a peer with another cluster key",
                     {{"connection", client.connection_id}, {"remote", client.remote}});
    return MakeError(ErrorCode::kAuthenticationFailed, "the router has another cluster key");
  }
  client.internal = true;
  return bson::Document();
}

std::optional<absl::StatusOr<bson::Document>> ShardHandler::OfProcess(
    const wire::Request& request) {
  if (request.name == "_ping") return bson::Document();
  if (request.name == "_cancel") {
    const bson::Value operation = request.body().Front().value;
    if (operation.Is(bson::Type::kInt64)) Cancel(static_cast<uint64_t>(operation.AsInt64()));
    return bson::Document();
  }
  if (request.name == "_processInfo") {
    bson::Builder reply;
    reply.Append("version", EVENKEEL_VERSION)
        .Append("uptimeSecs", absl::ToInt64Seconds(absl::Now() - started_))
        .Append("pid", static_cast<int64_t>(getpid()));
    shard_->AppendIdentity(&reply);
    return reply.Finish();
  }
  if (request.name != "_rotateCertificates") return std::nullopt;
  if (certificates_ != nullptr) {
    if (absl::Status status = certificates_->Reload(); !status.ok()) return status;
    base::LogInfo("shard", "certificates were read again");
  }
  return bson::Document();
}

// A request under way, for as long as it exists.
class ShardHandler::Running {
 public:
  Running(ShardHandler* handler, uint64_t operation, const base::CancellationToken& disconnected)
      : handler_(handler),
        operation_(operation),
        source_(std::make_shared<base::CancellationSource>(disconnected)) {
    absl::MutexLock lock(&handler_->mutex_);
    place_ = handler_->running_.emplace(operation_, source_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    absl::MutexLock lock(&handler_->mutex_);
    handler_->running_.erase(place_);
  }
  base::CancellationToken token() const { return source_->token(); }

 private:
  ShardHandler* const handler_;
  const uint64_t operation_;
  const std::shared_ptr<base::CancellationSource> source_;
  std::multimap<uint64_t, std::shared_ptr<base::CancellationSource>>::iterator place_;
};

void ShardHandler::Cancel(uint64_t operation) {
  std::vector<std::shared_ptr<base::CancellationSource>> found;
  {
    absl::MutexLock lock(&mutex_);
    const auto [begin, end] = running_.equal_range(operation);
    for (auto it = begin; it != end; ++it) found.push_back(it->second);
  }
  for (const auto& source : found) source->Cancel();
}

boost::asio::awaitable<wire::Reply> ShardHandler::Handle(std::shared_ptr<wire::ClientState> client,
                                                         wire::Request request) {
  const wire::PeerFields peer = wire::PeerFieldsOf(request.body(), absl::Now());
  if (request.name == "_hello" || request.name == "_authenticate") {
    auto result = request.name == "_hello" ? Greet(*client, request.body())
                                           : Authenticate(*client, request.body());
    if (!result.ok()) co_return ErrorFor(result.status());
    co_return wire::Reply{wire::SuccessReply(*std::move(result), {.to_peer = true})};
  }
  if (!client->internal) {
    co_return ErrorFor(MakeError(ErrorCode::kUnauthorized,
                                 "this is a shard: clients connect to a router (mongos)"));
  }
  clock_->Observe(peer.time);
  bson::Document body;
  if (auto answered = OfProcess(request)) {
    if (!answered->ok()) co_return ErrorFor(answered->status());
    body = *std::move(*answered);
  } else {
    request.message.operation = peer.operation;
    const Running running(this, peer.operation, client->disconnected.token());
    body = co_await shard_->Handle(std::move(request.message), peer.deadline, running.token());
  }
  if (body.view().Contains("ok")) co_return wire::Reply{std::move(body)};
  const wire::ReplyContext facts{.operation_time = clock_->Now(), .to_peer = true};
  co_return wire::Reply{wire::SuccessReply(std::move(body), facts)};
}

wire::Reply ShardHandler::ErrorFor(const absl::Status& status) {
  return {wire::ErrorReply(status, {.to_peer = true})};
}

void ShardHandler::Disconnected(const wire::ClientState& client) {
  absl::MutexLock lock(&mutex_);
  greetings_.erase(client.connection_id);
}

}  // namespace evenkeel::cli
