// Three shards and two routers, and the network between them in the test's hands: every message
// waits until it is delivered, lost or repeated; every shard's log until it is synced or the shard
// crashes.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/wait.h"
#include "tests/enumeration/nodes.h"

namespace evenkeel::tests {

// One request on its way, and its reply.
struct Flight {
  enum class State : uint8_t {
    kSent,      // on its way to the shard
    kAtShard,   // being executed
    kAnswered,  // the reply is on its way
    kOver,
  };
  std::string name;  // of the command
  size_t router = 0;
  size_t shard = 0;
  wire::Message request;
  Timestamp sent_at;
  State state = State::kSent;
  bool orphan = false;  // the router does not wait for it any more
  bson::Document reply;
  Timestamp answered_at;
  absl::StatusOr<wire::Message> result;  // what the router gets
  base::Event ended;
};

class EnumeratedCluster {
 public:
  static constexpr size_t kShards = 3, kRouters = 2;
  // What a cluster has on its disks.
  struct Image {
    absl::Time now;
    std::vector<ShardNode::Entries> logs;
  };
  // True for commands that wait for the test's steps; all others go through at once, though not
  // past a log that has to be synced.
  using IsStepped = bool (*)(std::string_view command);

  explicit EnumeratedCluster(const Image& image);
  ~EnumeratedCluster();
  // A new cluster on which these commands were run.
  static Image Prepare(const std::vector<std::string>& commands);

  // A client's command and its answer; empty while it is under way.
  using Answer = std::shared_ptr<std::optional<bson::Document>>;
  Answer Ask(size_t router, const std::string& json);
  // The same for a command that needs no steps. One that waits for ever has the code -1.
  bson::Document Run(size_t router, const std::string& json);
  void BeginResolving(size_t router) { routers_[router]->BeginResolving(); }

  // From now on these commands wait for steps, and logs too; null: none do.
  void Step(IsStepped stepped) { stepped_ = stepped; }
  // Lets transactions reach their greatest age on all shards.
  void EndOldTransactions();
  // Runs everything that needs no step.
  void Settle();

  // Steps.
  void Deliver(const std::shared_ptr<Flight>& flight);
  void Reply(const std::shared_ptr<Flight>& flight);
  // The router hears of a broken connection; the request, or its reply, is lost, or it is on its
  // way for as long as the test wants.
  void Lose(const std::shared_ptr<Flight>& flight);
  void Delay(const std::shared_ptr<Flight>& flight);
  // The request will come a second time.
  void Repeat(const std::shared_ptr<Flight>& flight);
  // The shard votes no.
  void Refuse(const std::shared_ptr<Flight>& flight);
  void Sync(size_t shard);
  // The shard loses what is not durable, and is there again at once.
  void Crash(size_t shard);
  // The router is gone; its requests are lost or still on their way.
  void Kill(size_t router, bool lose_requests);
  void Advance(absl::Duration time);

  const std::vector<std::shared_ptr<Flight>>& flights() const { return flights_; }
  ShardNode& shard(size_t number) { return *shards_[number]; }
  bool is_alive(size_t router) const { return alive_[router]; }

 private:
  class Channel;
  bool PassOn();

  const absl::Time start_;
  IsStepped stepped_ = nullptr;
  std::vector<std::unique_ptr<ShardNode>> shards_;
  std::vector<std::unique_ptr<ShardNode>> crashed_;
  std::vector<std::unique_ptr<RouterNode>> routers_;
  std::vector<bool> alive_;
  std::vector<std::shared_ptr<Flight>> flights_;
};

}  // namespace evenkeel::tests
