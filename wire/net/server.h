// The listener: accepts client connections, hands each to a loop, bounds their number, stops them.
//
// A loop is an executor that runs on exactly one thread (base/async/event_loop.h); a connection
// lives on one loop and needs no strand. The listener itself lives on the first loop.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "wire/net/handler.h"
#include "wire/net/tls.h"

namespace evenkeel::wire {

struct ServerOptions {
  std::vector<std::string> bind = {"127.0.0.1"};  // addresses or host names
  uint16_t port = 27017;                          // 0: a free one, the same for all addresses
  size_t connections_max = limits::kConnectionsMax;
  size_t in_flight_bytes_max = limits::kInFlightBytesMax;
  // A frame that has begun must have arrived, and a reply must have been taken, after this time and
  // the time that its bytes need at the slowest rate. Idle connections may stay for ever.
  absl::Duration transfer_time_max = absl::Seconds(30);
  size_t transfer_bytes_per_second_min = 64u << 10;
  // Replies that their peers do not take are cut off after this time while all memory for messages
  // is in use.
  absl::Duration stall_time_max = absl::Seconds(1);
  // How often running requests are checked for peers that have gone.
  absl::Duration watch_interval = absl::Milliseconds(100);
  // Modes but the last take plain connections too, on the same port.
  TlsMode tls_mode = TlsMode::kDisabled;
  std::shared_ptr<const TlsContext> tls;  // unless disabled
};

// Counters for serverStatus, all loops together.
struct ServerStats {
  size_t connections_current = 0;
  size_t connections_available = 0;
  uint64_t connections_created = 0;
  uint64_t connections_rejected = 0;
  size_t requests_active = 0;
  uint64_t requests = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  size_t in_flight_bytes = 0;
};

class Server {
 public:
  // loops  outlive the server.
  Server(ServerOptions options, std::vector<boost::asio::any_io_executor> loops);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();  // requires that Stop has been waited for, or that Start was not called

  // Binds all addresses: the port is known and clients may connect, which wait until Start. Errors:
  // SocketException naming the address.
  absl::Status Listen();
  // Begins to accept. Requires that Listen has succeeded. `handler` is
  // used until Stop has ended.
  void Start(RequestHandler* handler);

  // Stops accepting, closes idle connections, lets running requests end until `deadline`, then
  // tells the rest to end (their clients count as disconnected), closes them and waits for their
  // coroutines.
  boost::asio::awaitable<void> Stop(absl::Time deadline);

  // The port that is listened on; after Listen.
  uint16_t port() const;
  // Any thread.
  ServerStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel::wire
