// The processes of a cluster as an enumeration sees them: shards with real services on real stores,
// and routers. Each runs only when it is told to, in the test's thread.
//
// There are no threads, and time stands still but for Advance: a run can be repeated exactly.
#pragma once

#include <absl/time/time.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "router/router.h"
#include "shard/command/service.h"
#include "storage/shard_store.h"
#include "tests/enumeration/manual_log.h"

namespace evenkeel::tests {

// What every process has.
class Node {
 public:
  static constexpr size_t kAtOnceMax = 5000;
  // `ahead`: how far its clock is ahead of others'.
  explicit Node(absl::Time start, absl::Duration ahead = absl::ZeroDuration())
      : wall(start + ahead), clock(&clock_wall_, absl::Seconds(10)), clock_wall_(start + ahead) {}
  // Runs what is ready. Returns how much that was: at most kAtOnceMax, which only what turns in
  // circles reaches.
  size_t Poll();
  boost::asio::io_context& io() { return io_; }

  base::FakeWallClock wall;
  base::HybridClock clock;

 private:
  base::FakeWallClock clock_wall_;  // stands still: commit timestamps tell the order of steps
  boost::asio::io_context io_;
};

// One life of a shard, from start to crash.
class ShardNode : public Node {
 public:
  using Entries = std::vector<storage::LogEntry>;
  ShardNode(absl::Time start, Entries entries);
  // Ends what still waits.
  ~ShardNode();

  // Executes a request; `done` gets the reply, later, in Settle.
  void Begin(wire::Message request, std::function<void(bson::Document)> done);
  // Runs commands and the writer until only the log or another process can make it go on.
  void Settle();
  shard::ShardService& service() { return *service_; }

  ManualLog log;

 private:
  std::unique_ptr<storage::ShardStoreImpl> store_;
  std::unique_ptr<shard::ShardService> service_;
};

class RouterNode : public Node {
 public:
  RouterNode(absl::Time start, absl::Duration ahead, std::vector<router::ShardMember> shards);
  void Begin(bson::Document command, std::function<void(bson::Document)> done);
  // One look after transactions in doubt.
  void BeginResolving();
  router::Router& router() { return *router_; }

 private:
  const std::shared_ptr<wire::ClientState> client_ = std::make_shared<wire::ClientState>();
  std::unique_ptr<router::Router> router_;
};

}  // namespace evenkeel::tests
