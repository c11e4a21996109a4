// What every process of a cluster has, whatever its role: a clock, the network's loop, a pool for
// scans, the listener, signals.
#pragma once

#include <absl/status/status.h>
#include <absl/synchronization/notification.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/async/event_loop.h"
#include "base/clock.h"
#include "cli/query_settings.h"
#include "cli/tls_choice.h"
#include "wire/net/server.h"

namespace evenkeel::cli {

struct ProcessOptions {
  std::vector<std::string> bind = {"127.0.0.1"};
  uint16_t port = 27017;  // 0: a free one
  int64_t connections = 10'000;
  uint32_t pool_threads = 0;   // 0: one per core, two at least
  bool test_commands = false;  // of routers: fail points may be set by clients
  int64_t move_rate = 0;       // of routers: bytes of documents per second that moves copy
  QueryOptions queries;
  int64_t slow_ms = 100;  // what takes longer is logged
  TlsChoice tls;
  std::string test_default_shard_key;  // of routers, in tests; JSON, empty: none
};

class Process {
 public:
  // tls  of the listener: what was made of options.tls.
  Process(const ProcessOptions& options, ListenerTls tls);
  ~Process();

  // Binds the addresses; clients wait until Serve. Errors: of the listener, naming the address.
  absl::Status Listen();
  // Begins to serve, and to take notice of signals. `handler` is used until StopServing returns.
  void Serve(wire::RequestHandler* handler);
  void WaitForSignal() { signalled_.WaitForNotification(); }
  // No new work; running work ends until `deadline` or is told to.
  void StopServing(absl::Time deadline);
  // Waits for the pool's work. After it nothing runs there.
  void StopPool() { pool_.join(); }

  // Runs a coroutine on the network's loop and waits for it.
  template <typename T>
  T Run(boost::asio::awaitable<T> work) {
    return boost::asio::co_spawn(network(), std::move(work), boost::asio::use_future).get();
  }

  uint16_t port() const { return server_.port(); }
  const std::string& host() const { return host_; }
  // What a client connects to: "mongodb://127.0.0.1:27017/".
  std::string ClientAddress() const;
  // Null when the listener does not speak TLS.
  const std::shared_ptr<wire::TlsContext>& tls() const { return tls_.context; }
  wire::ServerStats server_stats() const { return server_.stats(); }
  base::HybridClock& clock() { return clock_; }
  const base::WallClock* wall() const { return base::WallClock::System(); }
  boost::asio::any_io_executor network() { return loop_.executor(); }
  boost::asio::any_io_executor pool() { return pool_.get_executor(); }

 private:
  const std::string host_;
  const ListenerTls tls_;
  base::HybridClock clock_;
  boost::asio::thread_pool pool_;
  base::EventLoop loop_{"network"};
  wire::Server server_;
  boost::asio::signal_set signals_;
  absl::Notification signalled_;
};

}  // namespace evenkeel::cli
