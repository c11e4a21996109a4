// The router: dispatches the commands of clients. One per process.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "base/async/wait.h"
#include "base/clock.h"
#include "base/random.h"
#include "query/settings.h"
#include "router/cluster.h"
#include "router/command.h"
#include "router/metrics.h"
#include "wire/net/handler.h"
#include "wire/net/server.h"

namespace evenkeel::router {

class NamedLocks;        // router/session/async_mutex.h
class OpenTransactions;  // router/transaction/open_transactions.h
class OperationTable;    // router/session/operation_table.h
namespace ddl {
class CopyRate;   // router/ddl/copy_rate.h
class MoveTable;  // router/ddl/move_progress.h
struct FreeIds;   // router/ddl/catalog_batch.h
}  // namespace ddl
namespace fail {
struct CommandFailPoints;  // router/fail/command_fail_point.h
}

struct RouterOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 27017;
  bool owns_shards = true;        // they are in this process: no other router reaches them
  std::string version = "7.0.0";  // of MongoDB, what buildInfo says
  std::string evenkeel_version;
  bson::Document command_line;  // for getCmdLineOpts: {argv: […], parsed: {…}}
  int64_t max_connections = 10'000;
  bool test_commands = false;  // configureFailPoint exists
  // What queries may use, shared with the shards of this process. The default has no disk.
  std::shared_ptr<query::Settings> query_settings = std::make_shared<query::Settings>();
  int64_t slow_ms = 100;  // requests that take longer are logged
  int64_t move_rate = 0;  // bytes of documents per second that moves copy; 0: no limit
  // What rotateCertificates reads again: those of the listener, and those for connections to
  // shards. Null where there is no TLS.
  std::shared_ptr<wire::TlsContext> certificates, shard_certificates;
  bson::Document test_default_shard_key;  // of new collections without options; empty: none
  // Counters of the listener, for serverStatus; may be empty. Any thread.
  std::function<wire::ServerStats()> server_stats;
};

struct RouterState {
  RouterOptions options;
  boost::asio::any_io_executor executor;  // network: handlers run here
  boost::asio::any_io_executor pool;      // merging of big results
  base::HybridClock* clock = nullptr;
  const base::WallClock* wall = nullptr;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<CursorTable> cursors;
  std::unique_ptr<SessionTable> sessions;
  std::unique_ptr<OperationTable> operations;
  std::unique_ptr<OpenTransactions> transactions;
  absl::Time started;
  std::string cluster_id;                       // 12 bytes of config.version's clusterId
  std::string process_id;                       // 12 bytes: topologyVersion of hello
  std::unique_ptr<NamedLocks> statement_turns;  // of statements that are transactions: one at a
                                                // time per collection and filter
  std::unique_ptr<NamedLocks> ddl_locks;        // one DDL job at a time per collection
  std::unique_ptr<ddl::FreeIds> free_ids;
  std::unique_ptr<ddl::MoveTable> moves;
  std::unique_ptr<ddl::CopyRate> copy_rate;
  Metrics metrics;
  std::unique_ptr<fail::CommandFailPoints> fail_points;  // null without test commands
  std::atomic<int64_t> slow_ms{100};                     // the options', until profile changes it
  // When copies of documents have to end, in milliseconds since 1970: they would hold up the end of
  // the process for hours.
  std::atomic<int64_t> stop_ms{std::numeric_limits<int64_t>::max()};
  base::TaskGroup* background = nullptr;  // work that outlives its command, ended by Router::Stop
  std::atomic<bool> balance_now{false};   // the shards have changed: the balancer looks at once
  std::atomic<int64_t> prefetched_bytes{0};  // of cursors whose client has not asked yet
  RouterState();
  ~RouterState();
};

class Router final : public wire::RequestHandler {
 public:
  // shards        those that are known before the catalog is: of a new cluster all of them. In this
  //               process: also those that are to become members.
  // open_channel  the way to others; empty where all shards are in this process.
  Router(RouterOptions options, std::vector<ShardMember> shards, OpenChannel open_channel,
         base::HybridClock* clock, const base::WallClock* wall,
         boost::asio::any_io_executor executor, boost::asio::any_io_executor pool);
  ~Router() override;

  // Makes the cluster's first catalog when there is none, finishes jobs that a crash left. Before
  // serving.
  Awaitable<absl::Status> Start();
  // Before the listener stops: moves that are still copying by then end and are undone by another
  // router, or after the next start.
  void AnnounceStop(absl::Time deadline);
  // Ends cursors and waits for running commands, up to the deadline.
  Awaitable<void> Stop(absl::Time deadline);

  Awaitable<wire::Reply> Handle(std::shared_ptr<wire::ClientState> client,
                                wire::Request request) override;
  wire::Reply ErrorFor(const absl::Status& status) override;
  void Disconnected(const wire::ClientState& client) override;

  RouterState& state() { return *state_; }

 private:
  Awaitable<CommandResult> Execute(CommandContext& context, wire::Request& request);
  // Beside other routers: shows that this one lives, finishes the jobs of dead ones.
  Awaitable<void> WatchJobs(base::CancellationToken cancelled);
  // Moves data where shards have joined or leave.
  Awaitable<void> Balance(base::CancellationToken cancelled);
  // Logs now and then how far moves are.
  Awaitable<void> LogMoves(base::CancellationToken cancelled);
  // Looks after transactions that dead routers have left.
  Awaitable<void> ResolveInDoubt(base::CancellationToken cancelled);
  // Ends idle cursors and old sessions now and then.
  Awaitable<void> KeepHouse(base::CancellationToken cancelled);

  std::unique_ptr<RouterState> state_;
  base::TaskGroup background_;
  bool started_ = false;
};

}  // namespace evenkeel::router
