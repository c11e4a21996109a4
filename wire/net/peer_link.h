// One connection from a router to a shard: connects, proves that it belongs to the cluster, then
// sends one request at a time and reads its reply.
//
// Thread: the loop of its executor. Abort may be called while an exchange is under way, which then
// fails.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "base/async/cancellation.h"
#include "base/status.h"
#include "wire/net/stream.h"
#include "wire/protocol/message.h"

namespace evenkeel::wire {

// Where a server is, and how a client shows that it may talk to it.
struct PeerAddress {
  std::string name;  // "shard0", for messages
  std::string host;
  uint16_t port = 0;
  std::string cluster_key;                // empty: nothing is proved, as by an ordinary client
  std::shared_ptr<const TlsContext> tls;  // null: plain
};

class PeerLink : public std::enable_shared_from_this<PeerLink> {
 public:
  explicit PeerLink(boost::asio::any_io_executor executor);
  ~PeerLink();

  // Connects and proves both sides. `address` outlives the call. Errors: HostUnreachable;
  // AuthenticationFailed when the other side has another key or a certificate that is not to be
  // trusted.
  boost::asio::awaitable<absl::Status> Open(const PeerAddress& address, absl::Time deadline);

  // Errors: HostUnreachable when the request was not sent as a whole; NetworkTimeout when the
  // connection broke behind it (the outcome is unknown); MaxTimeMSExpired, Interrupted (unknown
  // too). The link is of no use after an error.
  boost::asio::awaitable<absl::StatusOr<Message>> Exchange(const Message& request,
                                                           absl::Time deadline,
                                                           base::CancellationToken cancelled);

  // False when the peer has closed the connection, or sent what nobody asked for.
  bool IsQuiet();
  // Ends the exchange that is under way with `reason`.
  void Abort(absl::Status reason);

  absl::Time idle_since;

 private:
  class Watchdog;
  boost::asio::awaitable<absl::Status> Connect(const PeerAddress& address);
  boost::asio::awaitable<absl::Status> Prove(const PeerAddress& address);
  boost::asio::awaitable<absl::Status> Send(const Message& request);
  boost::asio::awaitable<absl::StatusOr<Message>> Receive();
  absl::Status Broken(ErrorCode code, const std::string& what) const;

  Stream stream_;
  boost::asio::steady_timer timer_;
  std::string peer_;  // "shard0 at host:port"
  int32_t request_id_ = 0;
  uint64_t exchanges_ = 0;  // what a watchdog was set for
  absl::Status aborted_;
};

}  // namespace evenkeel::wire
