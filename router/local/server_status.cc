// serverStatus: counters of the process in the shape that a mongos gives them.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/bson/builder.h"
#include "router/cursor/cursor_table.h"
#include "router/local/local.h"
#include "router/router.h"
#include "router/session/session_table.h"

namespace evenkeel::router::local {
namespace {

int64_t Read(const std::atomic<uint64_t>& counter) {
  return static_cast<int64_t>(counter.load(std::memory_order_relaxed));
}

void AppendMemory(bson::Builder& reply) {
  int64_t virtual_pages = 0, resident_pages = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> virtual_pages >> resident_pages;
  const int64_t page_bytes = sysconf(_SC_PAGE_SIZE);
  reply.OpenDocument("mem")
      .Append("bits", int32_t{64})
      .Append("resident", static_cast<int32_t>(resident_pages * page_bytes >> 20))
      .Append("virtual", static_cast<int32_t>(virtual_pages * page_bytes >> 20))
      .Append("supported", true)
      .Close();
}

void AppendExtraInfo(bson::Builder& reply) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
  };
  reply.OpenDocument("extra_info")
      .Append("user_time_us", micros(usage.ru_utime))
      .Append("system_time_us", micros(usage.ru_stime))
      .Append("page_faults", int64_t{usage.ru_majflt})
      .Close();
}

void AppendConnections(bson::Builder& reply, const wire::ServerStats& stats) {
  reply.OpenDocument("connections")
      .Append("current", static_cast<int32_t>(stats.connections_current))
      .Append("available", static_cast<int32_t>(stats.connections_available))
      .Append("totalCreated", static_cast<int64_t>(stats.connections_created))
      .Append("rejected", static_cast<int64_t>(stats.connections_rejected))
      .Append("active", static_cast<int32_t>(stats.requests_active))
      .Close();
  reply.OpenDocument("network")
      .Append("bytesIn", static_cast<int64_t>(stats.bytes_in))
      .Append("bytesOut", static_cast<int64_t>(stats.bytes_out))
      .Append("numRequests", static_cast<int64_t>(stats.requests))
      .Close();
}

void AppendCounters(bson::Builder& reply, const Metrics& metrics) {
  reply.OpenDocument("opcounters")
      .Append("insert", Read(metrics.inserts))
      .Append("query", Read(metrics.queries))
      .Append("update", Read(metrics.updates))
      .Append("delete", Read(metrics.deletes))
      .Append("getmore", Read(metrics.get_mores))
      .Append("command", Read(metrics.commands))
      .Close();
}

void AppendCursors(bson::Builder& reply, const CursorTable& cursors) {
  const CursorTable::Counts counts = cursors.counts();
  reply.OpenDocument("metrics").OpenDocument("cursor");
  reply.Append("timedOut", static_cast<int64_t>(counts.timed_out)).OpenDocument("open");
  reply.Append("noTimeout", static_cast<int64_t>(counts.no_timeout))
      .Append("pinned", static_cast<int64_t>(counts.pinned))
      .Append("total", static_cast<int64_t>(counts.open));
  reply.Close().Close().Close();
}

void AppendTransactions(bson::Builder& reply, const Metrics& metrics) {
  const int64_t started = Read(metrics.transactions_started);
  const int64_t committed = Read(metrics.transactions_committed);
  const int64_t aborted = Read(metrics.transactions_aborted);
  reply.OpenDocument("transactions")
      .Append("currentOpen", std::max<int64_t>(0, started - committed - aborted))
      .Append("totalStarted", started)
      .Append("totalCommitted", committed)
      .Append("totalAborted", aborted)
      .Close();
}

}  // namespace

Awaitable<CommandResult> ServerStatusCommand(CommandContext& context) {
  const RouterState& router = context.router;
  const absl::Time now = router.wall->Now();
  const absl::Duration uptime = now - router.started;
  bson::Builder reply;
  reply.Append("host", router.options.host + ":" + std::to_string(router.options.port))
      .Append("version", router.options.version)
      .Append("process", "mongos")
      .Append("pid", int64_t{getpid()})
      .Append("uptime", absl::ToDoubleSeconds(uptime))
      .Append("uptimeMillis", absl::ToInt64Milliseconds(uptime))
      .Append("uptimeEstimate", absl::ToInt64Seconds(uptime))
      .AppendDate("localTime", absl::ToUnixMillis(now));
  const wire::ServerStats stats =
      router.options.server_stats ? router.options.server_stats() : wire::ServerStats();
  AppendConnections(reply, stats);
  AppendCounters(reply, router.metrics);
  AppendMemory(reply);
  AppendExtraInfo(reply);
  AppendCursors(reply, *router.cursors);
  reply.OpenDocument("logicalSessionRecordCache")
      .Append("activeSessionsCount", static_cast<int32_t>(router.sessions->size()))
      .Close();
  AppendTransactions(reply, router.metrics);
  reply.OpenDocument("sharding")
      .Append("shards", static_cast<int32_t>(router.cluster->shard_count()))
      .Close();
  co_return reply.Finish();
}

}  // namespace evenkeel::router::local
