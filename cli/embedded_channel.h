// A shard in this process, behind the interface that remote shards have.
#pragma once

#include "shard/command/service.h"
#include "wire/net/channel.h"

namespace evenkeel::cli {

class EmbeddedChannel final : public wire::ShardChannel {
 public:
  // `service` outlives the channel.
  explicit EmbeddedChannel(shard::ShardService* service) : service_(service) {}

  boost::asio::awaitable<absl::StatusOr<wire::Message>> Call(
      wire::Message request, absl::Time deadline, base::CancellationToken cancelled) override;

 private:
  shard::ShardService* service_;
};

}  // namespace evenkeel::cli
