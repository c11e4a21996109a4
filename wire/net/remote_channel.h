// A shard in another process, behind the interface that embedded shards have.
//
// Holds a pool of links, one request on each at a time, and a watch: a link of its own that asks
// the shard every second whether it is there. A shard that has gone or hangs is noticed by the
// watch; its running calls fail, new calls wait a while for it to come back.
//
// Thread: the loop of its executor, where callers run too.
#pragma once

#include <absl/time/time.h>

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/async/byte_budget.h"
#include "base/async/wait.h"
#include "base/clock.h"
#include "wire/net/channel.h"
#include "wire/net/peer_link.h"

namespace evenkeel::wire {

struct RemoteChannelOptions {
  PeerAddress address;
  size_t links_max = 128;
  // How long a call waits for a shard that cannot be reached, if its deadline is not nearer.
  absl::Duration wait_max = absl::Seconds(10);
  absl::Duration open_time_max = absl::Seconds(5);
  absl::Duration watch_interval = absl::Seconds(1);
  // A shard that has not answered the watch for so long is taken for gone.
  absl::Duration silence_max = absl::Seconds(10);
  absl::Duration idle_max = absl::Minutes(5);
};

class RemoteChannel final : public ShardChannel {
 public:
  // clock  outlives the channel: its time goes out with every request.
  RemoteChannel(RemoteChannelOptions options, base::HybridClock* clock,
                boost::asio::any_io_executor executor);
  ~RemoteChannel() override;

  // Begins to watch. Before the first call.
  void Start();
  // Ends the watch and all calls, and waits for the watch.
  boost::asio::awaitable<void> Stop() override;
  boost::asio::awaitable<absl::Status> WaitUntilUp(base::CancellationToken cancelled) override;

  // A call that is cancelled is ended at the shard before it returns, if the shard answers.
  // Errors also: HostUnreachable when the shard did not come within wait_max: nothing was done.
  boost::asio::awaitable<absl::StatusOr<Message>> Call(Message request, absl::Time deadline,
                                                       base::CancellationToken cancelled) override;

 private:
  boost::asio::awaitable<void> Watch(base::CancellationToken cancelled);
  boost::asio::awaitable<absl::Status> WatchOnce(base::CancellationToken cancelled);
  void SetUp(const absl::Status& status);
  boost::asio::awaitable<absl::StatusOr<std::shared_ptr<PeerLink>>> Take(absl::Time deadline);
  boost::asio::awaitable<absl::StatusOr<Message>> CallOnce(
      const Message& request, absl::Time deadline, const base::CancellationToken& cancelled);
  // What becomes of a call whose client has gone or whose operation was killed.
  struct Ending;
  // Tells the shard to end what it does for an operation, and gives it a little time to answer.
  boost::asio::awaitable<void> EndAtShard(uint64_t operation, std::shared_ptr<Ending> ending,
                                          base::CancellationToken stopping);
  std::shared_ptr<PeerLink> TakeIdle();
  Message WithPeerFields(Message request, absl::Time deadline) const;
  absl::Status Unreachable() const;

  const RemoteChannelOptions options_;
  base::HybridClock* const clock_;
  const boost::asio::any_io_executor executor_;
  base::TaskGroup tasks_;
  base::ByteBudget slots_;  // one "byte" per link
  std::vector<std::shared_ptr<PeerLink>> idle_;
  std::set<PeerLink*> busy_;
  bool up_ = false;
  bool stopping_ = false;
  absl::Status last_error_;
};

}  // namespace evenkeel::wire
