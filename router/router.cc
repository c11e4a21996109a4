// Dispatch: generic checks, order within sessions, the handler, the reply.
#include "router/router.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "router/cursor/cursor_table.h"
#include "router/cursor/cursors.h"
#include "router/ddl/balancer.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/copy_rate.h"
#include "router/ddl/ddl.h"
#include "router/ddl/job.h"
#include "router/ddl/job_watch.h"
#include "router/ddl/move_progress.h"
#include "router/fail/command_fail_point.h"
#include "router/fail/fail.h"
#include "router/let.h"
#include "router/operation_trace.h"
#include "router/query_context.h"
#include "router/session/async_mutex.h"
#include "router/session/operation_table.h"
#include "router/session/session_table.h"
#include "router/table.h"
#include "router/transaction/commit.h"
#include "router/transaction/open_transactions.h"
#include "router/transaction/snapshot_read.h"
#include "router/transaction/statement.h"
#include "wire/protocol/commands.h"
#include "wire/protocol/error_reply.h"
#include "wire/protocol/operation_text.h"
#include "wire/protocol/peer_fields.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router {
namespace {

constexpr absl::Duration kHousekeepingPeriod = absl::Seconds(30);
constexpr absl::Duration kResolvePeriod = absl::Seconds(2);
// A router that is alive needs less from a vote to its decision, and from there to the last
// participant.
constexpr absl::Duration kInDoubtAge = absl::Seconds(10);
constexpr absl::Duration kPresencePeriod = absl::Seconds(5);
constexpr absl::Duration kBalancePeriod = absl::Seconds(3);
constexpr absl::Duration kBalancePoll = absl::Milliseconds(100);
constexpr absl::Duration kMovesPeriod = absl::Seconds(10);
constexpr absl::Duration kStopPollPeriod = absl::Milliseconds(10);

// Counts a command for as long as it runs.
class Running {
 public:
  explicit Running(Metrics& metrics) : metrics_(metrics) {
    metrics_.running.fetch_add(1, std::memory_order_relaxed);
    metrics_.requests.fetch_add(1, std::memory_order_relaxed);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { metrics_.running.fetch_sub(1, std::memory_order_relaxed); }

 private:
  Metrics& metrics_;
};

// A command that reads or writes waits for its turn in the session; killCursors must get past a
// getMore that waits.
bool TakesTurns(const wire::CommandFacts& facts) {
  return facts.routing != wire::Routing::kLocal && facts.name != "killCursors";
}

// Reads and writes count themselves, by documents or statements.
bool CountsItself(std::string_view name) {
  return name == "find" || name == "insert" || name == "update" || name == "delete" ||
         name == "getMore";
}

// What the router adds to statements of transactions (router/transaction/transaction.h).
constexpr std::string_view kStatementField = "$txn";

// Times from the client move the clock, within bounds.
absl::Status ObserveTimes(CommandContext& context) {
  const wire::GenericArguments& generic = context.request.generic;
  base::HybridClock& clock = *context.router.clock;
  if (generic.cluster_time) {
    EVENKEEL_RETURN_IF_ERROR(clock.ObserveUntrusted(*generic.cluster_time));
  }
  if (const auto after = generic.read_concern.after_cluster_time) {
    EVENKEEL_RETURN_IF_ERROR(clock.ObserveUntrusted(*after));
  }
  if (const auto at = generic.read_concern.at_cluster_time; at && *at > clock.Now()) {
    return MakeError(ErrorCode::kInvalidOptions,
                     "readConcern.atClusterTime must not be ahead of the cluster's time");
  }
  return absl::OkStatus();
}

absl::Status CheckRequest(const CommandContext& context) {
  const wire::Request& request = context.request;
  const bool for_tests = request.facts != nullptr && request.facts->flags & wire::kTestOnly;
  if (for_tests && !context.router.options.test_commands) {
    return Error(ErrorCode::kCommandNotFound, "no such command: '{}'", request.name);
  }
  EVENKEEL_RETURN_IF_ERROR(wire::CheckAllowed(request, /*from_peer=*/false));
  // These are the router's to write.
  for (const std::string_view field : {wire::kShardField, wire::kPeerField, kStatementField}) {
    if (!request.body().Contains(field)) continue;
    return Error(Location(40415), "BSON field '{}.{}' is an unknown field.", request.name, field);
  }
  return absl::OkStatus();
}

}  // namespace

RouterState::RouterState() = default;
RouterState::~RouterState() = default;

Router::Router(RouterOptions options, std::vector<ShardMember> shards, OpenChannel open_channel,
               base::HybridClock* clock, const base::WallClock* wall,
               boost::asio::any_io_executor executor, boost::asio::any_io_executor pool)
    : state_(std::make_unique<RouterState>()), background_(executor) {
  state_->options = std::move(options);
  state_->slow_ms = state_->options.slow_ms;
  state_->executor = std::move(executor);
  state_->pool = std::move(pool);
  state_->clock = clock;
  state_->wall = wall;
  state_->cluster = std::make_unique<Cluster>(std::move(shards), std::move(open_channel));
  state_->cluster->ObserveWith(clock);
  state_->cursors = std::make_unique<CursorTable>(wall);
  state_->sessions = std::make_unique<SessionTable>(wall);
  state_->operations = std::make_unique<OperationTable>();
  state_->transactions = std::make_unique<OpenTransactions>();
  state_->statement_turns = std::make_unique<NamedLocks>();
  state_->ddl_locks = std::make_unique<NamedLocks>();
  state_->free_ids = std::make_unique<ddl::FreeIds>();
  state_->moves = std::make_unique<ddl::MoveTable>(wall);
  state_->copy_rate = std::make_unique<ddl::CopyRate>(wall, state_->options.move_rate);
  state_->started = wall->Now();
  state_->process_id = bson::NewObjectId();
  if (state_->options.test_commands) {
    state_->fail_points = std::make_unique<fail::CommandFailPoints>();
  }
  state_->background = &background_;
}

Router::~Router() = default;

Awaitable<absl::Status> Router::Start() {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await ddl::Bootstrap(*state_));
  if (state_->options.owns_shards) {
    // Whoever was committing these, or running those jobs, has gone with the process. Jobs wait for
    // what is prepared.
    co_await ResolveTransactions(*state_, absl::ZeroDuration(), {});
    EVENKEEL_CO_RETURN_IF_ERROR(co_await ddl::FinishJobs(*state_));
  }
  started_ = true;
  background_.Spawn(
      [this](base::CancellationToken cancelled) { return KeepHouse(std::move(cancelled)); });
  background_.Spawn(
      [this](base::CancellationToken cancelled) { return ResolveInDoubt(std::move(cancelled)); });
  background_.Spawn(
      [this](base::CancellationToken cancelled) { return Balance(std::move(cancelled)); });
  background_.Spawn(
      [this](base::CancellationToken cancelled) { return LogMoves(std::move(cancelled)); });
  if (!state_->options.owns_shards) {
    background_.Spawn(
        [this](base::CancellationToken cancelled) { return WatchJobs(std::move(cancelled)); });
  }
  co_return absl::OkStatus();
}

void Router::AnnounceStop(absl::Time deadline) { state_->stop_ms = absl::ToUnixMillis(deadline); }

Awaitable<void> Router::Stop(absl::Time deadline) {
  state_->stop_ms = 0;
  co_await background_.Stop();
  while (state_->metrics.running.load(std::memory_order_relaxed) > 0 &&
         state_->wall->Now() < deadline) {
    (void)co_await base::Sleep(kStopPollPeriod);
  }
  co_await CloseCursors(state_->cursors->TakeAll());
  if (started_ && !state_->options.owns_shards) (void)co_await ddl::RemovePresence(*state_);
  co_await state_->cluster->Stop();
}

Awaitable<void> Router::WatchJobs(base::CancellationToken cancelled) {
  ddl::JobWatch watch;
  while ((co_await base::Sleep(kPresencePeriod, cancelled)).ok()) {
    CallScope scope;
    scope.cancelled = cancelled;
    absl::Status status = co_await state_->cluster->Refresh(scope);
    if (status.ok()) status = co_await watch.Run(*state_);
    if (!status.ok())
      base::LogWarning("router", "cannot look after jobs and shards", {{"error", status}});
  }
}

Awaitable<void> Router::Balance(base::CancellationToken cancelled) {
  ddl::Balancer balancer;
  while (!cancelled.IsCancelled()) {
    const absl::Status status = co_await balancer.RunRound(*state_, cancelled);
    if (!status.ok()) base::LogWarning("balancer", "a round has failed", {{"error", status}});
    const absl::Time next = absl::Now() + kBalancePeriod;
    while (absl::Now() < next && !state_->balance_now.exchange(false)) {
      const absl::Status slept = co_await base::Sleep(kBalancePoll, cancelled);
      if (!slept.ok()) co_return;
    }
  }
}

Awaitable<void> Router::LogMoves(base::CancellationToken cancelled) {
  while (true) {
    const absl::Status slept = co_await base::Sleep(kMovesPeriod, cancelled);
    if (!slept.ok()) co_return;
    state_->moves->LogAll();
  }
}

Awaitable<void> Router::ResolveInDoubt(base::CancellationToken cancelled) {
  while (true) {
    const absl::Status slept = co_await base::Sleep(kResolvePeriod, cancelled);
    if (!slept.ok()) co_return;
    co_await ResolveTransactions(*state_, kInDoubtAge, cancelled);
  }
}

Awaitable<void> Router::KeepHouse(base::CancellationToken cancelled) {
  while ((co_await base::Sleep(kHousekeepingPeriod, cancelled)).ok()) {
    co_await CloseCursors(state_->cursors->TakeIdle());
    for (const auto& session : state_->sessions->Expire()) {
      co_await EndSession(*state_, session);
    }
  }
}

namespace {

// A command with a txnNumber: a statement of a transaction, or one that ends an older transaction.
Awaitable<CommandResult> RunNumbered(CommandContext& context, Session& session,
                                     CommandHandler handler) {
  const wire::Request& request = context.request;
  if (!request.in_transaction()) {
    if (*request.generic.txn_number > session.newest) {
      co_await LeaveTransaction(context.router, session);
      session.newest = *request.generic.txn_number;
    }
    co_return co_await handler(context);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(context.transaction, co_await EnterTransaction(context, session));
  if (context.transaction == nullptr) co_return co_await handler(context);
  const auto transaction = context.transaction;
  transaction->BeginStatement(context.router.wall->Now());
  CommandResult result = co_await handler(context);
  if (!EndsTransaction(request)) result = co_await FinishStatement(context, std::move(result));
  transaction->EndStatement(context.router.wall->Now());
  co_return result;
}

}  // namespace

Awaitable<CommandResult> Router::Execute(CommandContext& context, wire::Request& request) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckRequest(context));
  EVENKEEL_CO_RETURN_IF_ERROR(ObserveTimes(context));
  if (state_->fail_points) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await fail::Pass(state_->fail_points->fail_command, context));
  }
  EVENKEEL_CO_RETURN_IF_ERROR(ResolveLet(*state_, context.times, &request));
  const CommandHandler handler = FindHandler(*request.facts);
  if (!handler) {
    co_return Error(ErrorCode::kCommandNotSupported, "command '{}' is not supported", request.name);
  }
  if (!CountsItself(request.facts->name)) {
    state_->metrics.commands.fetch_add(1, std::memory_order_relaxed);
  }
  AsyncMutex::Guard turn;
  std::shared_ptr<Session> session;
  if (!request.generic.lsid_bytes.empty()) {
    session = state_->sessions->Use(request.generic.lsid_bytes);
    if (!session) {
      co_return MakeError(Location(261), "too many sessions: no new one can begin");
    }
    if (!TakesTurns(*request.facts)) {
      // Nothing that another request of the session could get in the way of.
    } else if (session->order->TryLock()) {
      turn = AsyncMutex::Guard(session->order);
    } else {
      EVENKEEL_CO_ASSIGN_OR_RETURN(turn,
                                   co_await AsyncMutex::Lock(session->order, context.scope()));
    }
  }
  context.begun = true;
  if (session != nullptr && TakesTurns(*request.facts) && request.generic.txn_number) {
    co_return co_await RunNumbered(context, *session, handler);
  }
  if (ReadsAtSnapshot(request)) co_return co_await RunAtSnapshot(context, handler);
  co_return co_await handler(context);
}

Awaitable<wire::Reply> Router::Handle(std::shared_ptr<wire::ClientState> client,
                                      wire::Request request) {
  const Running running(state_->metrics);
  const absl::Time begun = state_->wall->Now();
  const OperationTable::Place place = state_->operations->Enter(*client, request, begun);
  CommandContext context{*state_, request, *client, place.operation().killed.token(),
                         TimesNow(*state_)};
  context.operation = place.operation().id;
  context.trace = std::make_shared<OperationTrace>(request.message.operation);
  CommandResult result;
  try {
    result = co_await Execute(context, request);
  } catch (const std::exception& error) {
    base::LogError("router", "a command ended with an exception",
                   {{"connection", client->connection_id},
                    {"request", wire::OperationText(request.message.operation)},
                    {"command", request.name},
                    {"what", error.what()}});
    result = Error(ErrorCode::kInternalError, "an unexpected error: {}", error.what());
  }
  wire::ReplyContext facts = wire::ReplyContextOf(request);
  facts.cluster_time = state_->clock->Now();
  facts.operation_time = facts.cluster_time;
  facts.no_writes_performed = !context.begun;
  wire::Reply reply;
  reply.close_connection = context.close_connection;
  if (result.ok()) {
    if (context.transaction) AppendRecoveryToken(*context.transaction, &*result);
    if (context.failure) result = fail::WithWriteConcernError(*std::move(result), context);
    reply.body = wire::SuccessReply(*std::move(result), facts);
    reply.more_to_come = context.more_to_come;
  } else {
    state_->metrics.errors.fetch_add(1, std::memory_order_relaxed);
    reply.body = wire::ErrorReply(result.status(), facts);
  }
  LogIfSlow(context, reply.body, state_->wall->Now() - begun);
  co_return reply;
}

wire::Reply Router::ErrorFor(const absl::Status& status) {
  wire::ReplyContext facts;
  facts.cluster_time = state_->clock->Now();
  facts.operation_time = facts.cluster_time;
  wire::Reply reply;
  reply.body = wire::ErrorReply(status, facts);
  return reply;
}

// Cursors belong to sessions, not to connections; housekeeping ends those that nobody asks for.
void Router::Disconnected(const wire::ClientState& client) {
  state_->operations->Disconnected(client.connection_id);
}

}  // namespace evenkeel::router
