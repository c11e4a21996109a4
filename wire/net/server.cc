// Binds, accepts, counts and stops.
#include "wire/net/server.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/async/byte_budget.h"
#include "base/async/wait.h"
#include "base/check.h"
#include "base/log.h"
#include "base/status.h"
#include "wire/net/connection.h"
#include "wire/net/network_loop.h"

namespace evenkeel::wire {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// How long accepting rests when the process is out of descriptors or memory.
constexpr absl::Duration kAcceptPause = absl::Milliseconds(100);
constexpr int kBacklog = 1024;

absl::Status CannotListen(const std::string& address, uint16_t port, const error_code& error) {
  return Error(ErrorCode::kSocketException, "cannot listen on {}:{}: {}", address, port,
               error.message());
}

}  // namespace

struct Server::State {
  State(ServerOptions with, const std::vector<asio::any_io_executor>& executors)
      : options(std::move(with)), budget(options.in_flight_bytes_max), tasks(executors.front()) {
    settings.budget = &budget;
    settings.transfer_time_max = options.transfer_time_max;
    settings.transfer_bytes_per_second_min =
        std::max<size_t>(options.transfer_bytes_per_second_min, 1);
    settings.tls_mode = options.tls_mode;
    settings.tls = options.tls.get();
    for (const auto& executor : executors) {
      loops.push_back(std::make_unique<NetworkLoop>(executor, options.watch_interval));
      loops.back()->watch.SetPressure(&budget, options.stall_time_max);
    }
  }

  absl::Status Bind(const std::string& address);
  bool BindOne(const tcp::endpoint& endpoint, error_code& error);
  static asio::awaitable<void> Accept(State* state, tcp::acceptor* acceptor);
  void Begin(tcp::socket socket, NetworkLoop* loop);
  static asio::awaitable<void> Serve(State* state, std::shared_ptr<Connection> connection);
  void CloseAcceptors();

  ServerOptions options;
  ConnectionSettings settings;
  base::ByteBudget budget;
  std::vector<std::unique_ptr<NetworkLoop>> loops;
  std::vector<std::unique_ptr<tcp::acceptor>> acceptors;  // the first loop's
  base::TaskGroup tasks;
  uint16_t port = 0;
  size_t next_loop = 0;  // the first loop's
  std::atomic<bool> stopping{false};
  std::atomic<int64_t> connections{0};
  std::atomic<uint64_t> created{0};
  std::atomic<uint64_t> rejected{0};
};

Server::Server(ServerOptions options, std::vector<asio::any_io_executor> loops) {
  EVENKEEL_CHECK(!loops.empty());
  state_ = std::make_unique<State>(std::move(options), loops);
}

Server::~Server() = default;

absl::Status Server::State::Bind(const std::string& address) {
  error_code error;
  tcp::resolver resolver(loops.front()->executor);
  const auto found =
      resolver.resolve(address, std::to_string(port), tcp::resolver::numeric_service, error);
  if (error) return CannotListen(address, port, error);
  // A name may stand for several addresses, of which this machine need not have all.
  bool bound = false;
  for (const auto& entry : found) {
    bound = BindOne(tcp::endpoint(entry.endpoint().address(), port), error) || bound;
  }
  return bound ? absl::OkStatus() : CannotListen(address, port, error);
}

bool Server::State::BindOne(const tcp::endpoint& endpoint, error_code& error) {
  error_code ignored;
  for (const auto& acceptor : acceptors) {
    if (acceptor->local_endpoint(ignored).address() == endpoint.address()) return true;
  }
  auto acceptor = std::make_unique<tcp::acceptor>(loops.front()->executor);
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor->set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(kBacklog, error);
  if (error) return false;
  port = acceptor->local_endpoint(ignored).port();
  acceptors.push_back(std::move(acceptor));
  return true;
}

absl::Status Server::Listen() {
  state_->port = state_->options.port;
  for (const std::string& address : state_->options.bind) {
    absl::Status bound = state_->Bind(address);
    if (!bound.ok()) {
      state_->acceptors.clear();
      return bound;
    }
  }
  return absl::OkStatus();
}

void Server::Start(RequestHandler* handler) {
  EVENKEEL_CHECK(!state_->acceptors.empty());
  state_->settings.handler = handler;
  for (const auto& acceptor : state_->acceptors) {
    state_->tasks.Spawn([state = state_.get(), acceptor = acceptor.get()](base::CancellationToken) {
      return State::Accept(state, acceptor);
    });
  }
}

asio::awaitable<void> Server::State::Accept(State* state, tcp::acceptor* acceptor) {
  while (!state->stopping.load(std::memory_order_relaxed)) {
    NetworkLoop* const loop = state->loops[state->next_loop++ % state->loops.size()].get();
    auto [error, socket] =
        co_await acceptor->async_accept(loop->executor, asio::as_tuple(asio::deferred));
    if (!error) {
      state->Begin(std::move(socket), loop);
      continue;
    }
    if (state->stopping.load(std::memory_order_relaxed)) co_return;
    if (error == asio::error::connection_aborted) continue;
    // Out of descriptors or memory: the client stays in the backlog until there are some again.
    if (const auto dropped = state->loops.front()->log_limiter.Admit()) {
      base::LogWarning("wire", "cannot accept a connection",
                       {{"reason", error.message()}, {"lines_dropped", *dropped}});
    }
    (void)co_await base::Sleep(kAcceptPause);
  }
}

void Server::State::Begin(tcp::socket socket, NetworkLoop* loop) {
  const int64_t now = connections.fetch_add(1, std::memory_order_relaxed) + 1;
  if (now > static_cast<int64_t>(options.connections_max)) {
    connections.fetch_sub(1, std::memory_order_relaxed);
    rejected.fetch_add(1, std::memory_order_relaxed);
    if (const auto dropped = loops.front()->log_limiter.Admit()) {
      base::LogWarning("wire", "refused a connection: too many are open",
                       {{"connections_max", options.connections_max}, {"lines_dropped", *dropped}});
    }
    return;  // the socket closes
  }
  const auto id = static_cast<int64_t>(created.fetch_add(1, std::memory_order_relaxed) + 1);
  auto connection = std::make_shared<Connection>(loop, &settings, std::move(socket), id);
  const bool begun = tasks.SpawnOn(loop->executor, [this, connection](base::CancellationToken) {
    return Serve(this, connection);
  });
  if (!begun) connections.fetch_sub(1, std::memory_order_relaxed);
}

asio::awaitable<void> Server::State::Serve(State* state, std::shared_ptr<Connection> connection) {
  co_await Connection::Run(std::move(connection));
  state->connections.fetch_sub(1, std::memory_order_relaxed);
}

void Server::State::CloseAcceptors() {
  error_code error;
  for (const auto& acceptor : acceptors) acceptor->close(error);
}

asio::awaitable<void> Server::Stop(absl::Time deadline) {
  State* const state = state_.get();
  const asio::any_io_executor home = co_await asio::this_coro::executor;
  state->stopping.store(true);
  co_await base::SwitchTo(state->loops.front()->executor);
  state->CloseAcceptors();
  for (const auto& loop : state->loops) {
    co_await base::SwitchTo(loop->executor);
    loop->watch.StopAll();
  }
  co_await base::SwitchTo(home);
  (void)co_await state->tasks.Join(deadline);
  for (const auto& loop : state->loops) {
    co_await base::SwitchTo(loop->executor);
    loop->watch.AbortAll();
  }
  co_await base::SwitchTo(home);
  co_await state->tasks.Stop();
  for (const auto& loop : state->loops) {
    co_await base::SwitchTo(loop->executor);
    loop->watch.Close();
  }
  co_await base::SwitchTo(home);
}

uint16_t Server::port() const { return state_->port; }

ServerStats Server::stats() const {
  ServerStats stats;
  const State& state = *state_;
  stats.connections_current =
      static_cast<size_t>(std::max<int64_t>(state.connections.load(std::memory_order_relaxed), 0));
  stats.connections_available = state.options.connections_max -
                                std::min(state.options.connections_max, stats.connections_current);
  stats.connections_created = state.created.load(std::memory_order_relaxed);
  stats.connections_rejected = state.rejected.load(std::memory_order_relaxed);
  for (const auto& loop : state.loops) {
    const uint64_t ended = loop->requests_ended.Get();
    stats.requests += loop->requests.Get();
    stats.requests_active += static_cast<size_t>(loop->requests.Get() - ended);
    stats.bytes_in += loop->bytes_in.Get();
    stats.bytes_out += loop->bytes_out.Get();
  }
  stats.in_flight_bytes = state.budget.HeldBytes();
  return stats;
}

}  // namespace evenkeel::wire
