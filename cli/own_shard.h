// The shard of a process of its own, which may have to hear its number first.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>

#include "base/async/cancellation.h"
#include "base/bson/document.h"
#include "base/types.h"
#include "shard/command/service.h"
#include "wire/protocol/message.h"

namespace evenkeel::cli {

// Thread: the network's loop.
class OwnShard {
 public:
  // Opens the data of a shard with this number. The service outlives this object.
  using Open = std::function<absl::StatusOr<shard::ShardService*>(ShardId)>;

  // open  called once at most, by a thread of `pool`, where it may wait.
  OwnShard(Open open, boost::asio::any_io_executor network, boost::asio::any_io_executor pool)
      : open_(std::move(open)), network_(std::move(network)), pool_(std::move(pool)) {}

  // The shard is open already. Before Handle.
  void Start(ShardId id, shard::ShardService* service) {
    id_ = id;
    service_ = service;
  }
  // Hands a request to the shard; _initShard opens one that waits for its number.
  boost::asio::awaitable<bson::Document> Handle(wire::Message request, absl::Time deadline,
                                                base::CancellationToken cancelled);
  // {shard, clusterId}, as far as they are known.
  void AppendIdentity(bson::Builder* reply) const;

 private:
  boost::asio::awaitable<absl::Status> OpenFor(bson::View request);

  const Open open_;
  const boost::asio::any_io_executor network_, pool_;
  bool opening_ = false;
  std::optional<ShardId> id_;
  shard::ShardService* service_ = nullptr;
};

}  // namespace evenkeel::cli
