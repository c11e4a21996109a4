// Opens a shard when it hears its number.
#include "cli/own_shard.h"

#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/log.h"
#include "base/status.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::cli {
namespace {

constexpr absl::Duration kOpeningPause = absl::Milliseconds(20);

}  // namespace

boost::asio::awaitable<absl::Status> OwnShard::OpenFor(bson::View request) {
  const bson::Value number = request["shard"];
  if (request.Front().key != "_initShard" || !number.Is(bson::Type::kInt32)) {
    co_return MakeError(ErrorCode::kOperationFailed,
                        "this shard belongs to no cluster yet: addShard makes it part of one");
  }
  const ShardId id{static_cast<uint32_t>(number.AsInt32())};
  opening_ = true;
  co_await base::SwitchTo(pool_);
  const absl::StatusOr<shard::ShardService*> opened = open_(id);
  co_await base::SwitchTo(network_);
  opening_ = false;
  EVENKEEL_CO_RETURN_IF_ERROR(opened.status());
  Start(id, *opened);
  base::LogInfo("shard", "the shard has its number", {{"shard", id.value}});
  co_return absl::OkStatus();
}

boost::asio::awaitable<bson::Document> OwnShard::Handle(wire::Message request, absl::Time deadline,
                                                        base::CancellationToken cancelled) {
  while (opening_) {
    const absl::Status slept = co_await base::Sleep(kOpeningPause, cancelled);
    if (!slept.ok()) co_return wire::ErrorReply(slept, {.to_peer = true});
  }
  if (service_ == nullptr) {
    const absl::Status opened = co_await OpenFor(request.body);
    if (!opened.ok()) co_return wire::ErrorReply(opened, {.to_peer = true});
  }
  co_return co_await service_->Handle(std::move(request), deadline, std::move(cancelled));
}

void OwnShard::AppendIdentity(bson::Builder* reply) const {
  if (!id_) return;
  reply->Append("shard", static_cast<int32_t>(id_->value));
  if (const std::string cluster = service_->catalog()->cluster_id(); !cluster.empty()) {
    reply->AppendObjectId("clusterId", cluster);
  }
}

}  // namespace evenkeel::cli
