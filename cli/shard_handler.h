// What a shard's process does with requests: lets in only who has the cluster's key, then hands
// them to the shard.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/clock.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/async/cancellation.h"
#include "base/clock.h"
#include "cli/own_shard.h"
#include "wire/net/handler.h"
#include "wire/net/tls.h"

namespace evenkeel::cli {

class ShardHandler final : public wire::RequestHandler {
 public:
  // shard, clock    outlive the handler.
  // certificates    of the listener; null when it does not speak TLS.
  ShardHandler(OwnShard* shard, base::HybridClock* clock, std::string cluster_key,
               std::shared_ptr<wire::TlsContext> certificates)
      : shard_(shard),
        clock_(clock),
        cluster_key_(std::move(cluster_key)),
        certificates_(std::move(certificates)) {}

  boost::asio::awaitable<wire::Reply> Handle(std::shared_ptr<wire::ClientState> client,
                                             wire::Request request) override;
  wire::Reply ErrorFor(const absl::Status& status) override;
  void Disconnected(const wire::ClientState& client) override;

 private:
  struct Greeting {
    std::string own, other;  // nonces
  };
  absl::StatusOr<bson::Document> Greet(const wire::ClientState& client, bson::View body);
  // What a router asks of the process, not of its shard.
  std::optional<absl::StatusOr<bson::Document>> OfProcess(const wire::Request& request);
  class Running;
  // Ends what runs for an operation of a client.
  void Cancel(uint64_t operation);
  absl::StatusOr<bson::Document> Authenticate(wire::ClientState& client, bson::View body);

  OwnShard* const shard_;
  base::HybridClock* const clock_;
  const std::string cluster_key_;
  const std::shared_ptr<wire::TlsContext> certificates_;
  const absl::Time started_ = absl::Now();
  absl::Mutex mutex_;
  absl::flat_hash_map<int64_t, Greeting> greetings_ ABSL_GUARDED_BY(mutex_);  // by connection
  // By the client's operation that they belong to.
  std::multimap<uint64_t, std::shared_ptr<base::CancellationSource>> running_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::cli
