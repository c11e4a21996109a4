// What a shard's process does with requests: lets in only who has the cluster's key, then hands
// them to the shard.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/synchronization/mutex.h>

#include <string>

#include "base/clock.h"
#include "shard/command/service.h"
#include "wire/net/handler.h"

namespace evenkeel::cli {

class ShardHandler final : public wire::RequestHandler {
 public:
  // service, clock  outlive the handler.
  ShardHandler(shard::ShardService* service, base::HybridClock* clock, std::string cluster_key)
      : service_(service), clock_(clock), cluster_key_(std::move(cluster_key)) {}

  boost::asio::awaitable<wire::Reply> Handle(std::shared_ptr<wire::ClientState> client,
                                             wire::Request request) override;
  wire::Reply ErrorFor(const absl::Status& status) override;
  void Disconnected(const wire::ClientState& client) override;

 private:
  struct Greeting {
    std::string own, other;  // nonces
  };
  absl::StatusOr<bson::Document> Greet(const wire::ClientState& client, bson::View body);
  absl::StatusOr<bson::Document> Authenticate(wire::ClientState& client, bson::View body);

  shard::ShardService* const service_;
  base::HybridClock* const clock_;
  const std::string cluster_key_;
  absl::Mutex mutex_;
  absl::flat_hash_map<int64_t, Greeting> greetings_ ABSL_GUARDED_BY(mutex_);  // by connection
};

}  // namespace evenkeel::cli
