// How a router reaches one shard: embedded in the process or over the network, behind one
// interface.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <boost/asio/awaitable.hpp>

#include "base/async/cancellation.h"
#include "wire/protocol/message.h"

namespace evenkeel::wire {

// Any number of calls may be under way; used from the executor that awaits.
class ShardChannel {
 public:
  virtual ~ShardChannel() = default;
  // Sends an internal command and returns the shard's reply document (ok: 0 replies too: see
  // StatusOfReply). Errors: network and deadline errors only, HostUnreachable, NetworkTimeout
  // (outcome unknown), Interrupted when cancelled.
  virtual boost::asio::awaitable<absl::StatusOr<Message>> Call(
      Message request, absl::Time deadline, base::CancellationToken cancelled) = 0;
  // Waits until the shard answers; an embedded one always does. Errors: AuthenticationFailed;
  // Interrupted.
  virtual boost::asio::awaitable<absl::Status> WaitUntilUp(base::CancellationToken /*cancelled*/) {
    co_return absl::OkStatus();
  }
  // Ends running calls and what the channel does by itself. Calls fail from then on.
  virtual boost::asio::awaitable<void> Stop() { co_return; }
};

}  // namespace evenkeel::wire
