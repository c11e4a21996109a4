// Wires the modules together.
#include "cli/node.h"

#include <absl/synchronization/notification.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "base/async/event_loop.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "cli/embedded_channel.h"
#include "router/router.h"
#include "shard/command/index_keys.h"
#include "shard/command/service.h"
#include "storage/log/shared_log.h"
#include "storage/store.h"
#include "txn/retry_record.h"
#include "wire/net/server.h"

namespace evenkeel::cli {
namespace {

constexpr absl::Duration kMaxDrift = absl::Seconds(10);
constexpr absl::Duration kStopTime = absl::Seconds(10);
constexpr uint32_t kDefaultShards = 3;

// How many shards the data of an earlier run have; 0 for new data.
uint32_t ShardsInData(const std::string& data) {
  uint32_t count = 0;
  std::error_code error;
  while (std::filesystem::exists(data + "/shard" + std::to_string(count), error)) ++count;
  return count;
}

// Runs a coroutine on the loop and waits for it.
template <typename T>
T RunOn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<T> work) {
  return boost::asio::co_spawn(executor, std::move(work), boost::asio::use_future).get();
}

// Rows of retryable writes that nobody can ask for any more.
bool IsDeadRow(storage::Table table, std::string_view value) {
  if (table != storage::Table::kSessions) return false;
  const auto record = txn::DecodeRetryRecord(value);
  return record.ok() && txn::IsExpired(*record, base::WallClock::System()->Now());
}

}  // namespace

// In the order of construction; destroyed the other way round.
struct Node::Parts {
  StartOptions options;
  base::HybridClock clock{base::WallClock::System(), kMaxDrift};
  std::unique_ptr<storage::SharedLog> log;
  std::vector<std::unique_ptr<storage::ShardStore>> stores;
  std::unique_ptr<boost::asio::thread_pool> pool;
  base::EventLoop loop{"network"};
  std::unique_ptr<wire::Server> server;  // listens first, accepts last
  std::vector<std::unique_ptr<shard::ShardService>> services;
  std::unique_ptr<router::Router> router;
  std::unique_ptr<boost::asio::signal_set> signals;
  absl::Notification signalled;
};

Node::Node() : parts_(std::make_unique<Parts>()) {}
Node::~Node() = default;

uint16_t Node::port() const { return parts_->server->port(); }
uint32_t Node::shard_count() const { return static_cast<uint32_t>(parts_->stores.size()); }

namespace {

absl::Status OpenStores(const StartOptions& options, uint32_t count, base::HybridClock* clock,
                        std::unique_ptr<storage::SharedLog>* log,
                        std::vector<std::unique_ptr<storage::ShardStore>>* stores) {
  std::vector<ShardId> ids;
  for (uint32_t i = 0; i < count; ++i) ids.push_back(ShardId{i});
  storage::SharedLogOptions log_options;
  log_options.folder = options.data + "/log";
  EVENKEEL_ASSIGN_OR_RETURN(*log, storage::SharedLog::Open(std::move(log_options), ids));
  for (const ShardId id : ids) {
    storage::StoreOptions store_options;
    store_options.folder = options.data + "/shard" + std::to_string(id.value);
    store_options.map_bytes = options.map_size_gb << 30;
    store_options.is_dead = [](storage::Table table, std::string_view, std::string_view value) {
      return IsDeadRow(table, value);
    };
    auto store = storage::ShardStore::Open(store_options, (*log)->shard(id), clock);
    if (!store.ok()) return Annotate(store.status(), "shard" + std::to_string(id.value));
    stores->push_back(*std::move(store));
  }
  return absl::OkStatus();
}

absl::Status CheckShardCount(const StartOptions& options, uint32_t in_data) {
  if (in_data == 0 || !options.shards || *options.shards == in_data) return absl::OkStatus();
  return Error(ErrorCode::kInvalidOptions, "the data in {} have {} shards, --shards says {}",
               options.data, in_data, *options.shards);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Node>> Node::Start(const StartOptions& options) {
  auto node = std::unique_ptr<Node>(new Node());
  const absl::Status status = node->Boot(options);
  if (status.ok()) return node;
  (void)node->Stop();  // what has started ends in order
  return status;
}

absl::Status Node::Boot(const StartOptions& options) {
  Parts& parts = *parts_;
  parts.options = options;
  std::error_code error;
  std::filesystem::create_directories(options.data, error);
  if (error)
    return Error(ErrorCode::kOperationFailed, "cannot make the folder {}: {}", options.data,
                 error.message());
  wire::ServerOptions server_options;
  server_options.bind = options.bind;
  server_options.port = options.port;
  server_options.connections_max = static_cast<size_t>(options.connections);
  const auto network = parts.loop.executor();
  std::vector<boost::asio::any_io_executor> loops = {network};
  parts.server = std::make_unique<wire::Server>(std::move(server_options), std::move(loops));
  EVENKEEL_RETURN_IF_ERROR(parts.server->Listen());

  const uint32_t in_data = ShardsInData(options.data);
  EVENKEEL_RETURN_IF_ERROR(CheckShardCount(options, in_data));
  const uint32_t count = in_data > 0 ? in_data : options.shards.value_or(kDefaultShards);
  EVENKEEL_RETURN_IF_ERROR(OpenStores(options, count, &parts.clock, &parts.log, &parts.stores));

  const uint32_t cores = std::max(2u, std::thread::hardware_concurrency());
  parts.pool = std::make_unique<boost::asio::thread_pool>(
      options.pool_threads > 0 ? options.pool_threads : cores);
  const auto* wall = base::WallClock::System();
  std::vector<std::unique_ptr<wire::ShardChannel>> channels;
  for (const auto& store : parts.stores) {
    parts.services.push_back(std::make_unique<shard::ShardService>(
        store.get(), &parts.clock, wall, network, parts.pool->get_executor()));
    EVENKEEL_RETURN_IF_ERROR(RunOn(network, parts.services.back()->Start()));
    channels.push_back(std::make_unique<EmbeddedChannel>(parts.services.back().get()));
  }

  router::RouterOptions router_options;
  router_options.host = options.bind.front();
  router_options.port = parts.server->port();
  router_options.evenkeel_version = EVENKEEL_VERSION;
  router_options.command_line = options.command_line;
  router_options.max_connections = options.connections;
  router_options.server_stats = [&parts] { return parts.server->stats(); };
  parts.router =
      std::make_unique<router::Router>(std::move(router_options), std::move(channels), &parts.clock,
                                       wall, network, parts.pool->get_executor());
  EVENKEEL_RETURN_IF_ERROR(RunOn(network, parts.router->Start()));

  parts.server->Start(parts.router.get());

  parts.signals = std::make_unique<boost::asio::signal_set>(network, SIGINT, SIGTERM);
  parts.signals->async_wait([&parts](const boost::system::error_code& failed, int) {
    if (!failed) parts.signalled.Notify();
  });
  return absl::OkStatus();
}

void Node::WaitForSignal() { parts_->signalled.WaitForNotification(); }

absl::Status Node::Stop() {
  Parts& parts = *parts_;
  const auto network = parts.loop.executor();
  const absl::Time deadline = base::WallClock::System()->Now() + kStopTime;
  base::LogInfo("start", "stopping");
  if (parts.server) RunOn(network, parts.server->Stop(deadline));
  if (parts.router) RunOn(network, parts.router->Stop(deadline));
  if (parts.pool) parts.pool->join();
  absl::Status status;
  for (const auto& store : parts.stores) status.Update(store->Close());
  if (parts.log) status.Update(parts.log->Close());
  base::LogInfo("start", "stopped");
  return status;
}

}  // namespace evenkeel::cli
