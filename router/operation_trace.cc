// Implements the log line of slow requests.
#include "router/operation_trace.h"

#include <algorithm>

#include "base/bson/number.h"
#include "base/log.h"
#include "router/router.h"
#include "wire/protocol/commands.h"
#include "wire/protocol/operation_text.h"
#include "wire/protocol/peer_fields.h"

namespace evenkeel::router {
namespace {

// These wait for news by design.
bool WaitsForNews(std::string_view name) { return name == "hello" || name == "isMaster"; }

std::string Outcome(bson::View reply) {
  const bson::Value code = reply["codeName"];
  return code.Is(bson::Type::kString) ? std::string(code.AsString()) : "OK";
}

std::string ShardNames(const OperationTrace& trace) {
  std::string names;
  for (const ShardId shard : trace.shards) {
    names += (names.empty() ? "" : ",") + Cluster::ShardName(shard);
  }
  return names;
}

// "SINGLE_SHARD IXSCAN { a: 1 }", "SHARD_MERGE COLLSCAN".
std::string PlanText(const OperationTrace& trace) {
  if (trace.shards.empty()) return "";
  const std::string spread = trace.shards.size() == 1 ? "SINGLE_SHARD" : "SHARD_MERGE";
  return trace.plan.empty() ? spread : spread + " " + trace.plan;
}

}  // namespace

void OperationTrace::Note(ShardId shard, bson::View reply) {
  const auto at = std::lower_bound(shards.begin(), shards.end(), shard);
  if (at == shards.end() || *at != shard) shards.insert(at, shard);
  const bson::Value stats = reply[wire::kStatsField];
  if (!stats.Is(bson::Type::kObject)) return;
  for (const auto& [name, value] : stats.AsDocument()) {
    if (name == "plan" && plan.empty() && value.Is(bson::Type::kString)) {
      plan = std::string(value.AsString());
    } else if (name == "keys") {
      keys_examined += bson::ToInt64Truncated(value);
    } else if (name == "docs") {
      docs_examined += bson::ToInt64Truncated(value);
    }
  }
}

void LogIfSlow(const CommandContext& context, bson::View reply, absl::Duration took) {
  const int64_t slow_ms = context.router.slow_ms.load(std::memory_order_relaxed);
  const wire::Request& request = context.request;
  if (took < absl::Milliseconds(slow_ms) || !request.facts) return;
  if (WaitsForNews(request.facts->name)) return;
  const OperationTrace& trace = *context.trace;
  base::LogInfo("router", "slow operation",
                {{"connection", context.client.connection_id},
                 {"request", wire::OperationText(trace.operation)},
                 {"remote", context.client.remote},
                 {"ns", wire::NamespaceText(request.message)},
                 {"command", wire::CommandText(request.message)},
                 {"plan", PlanText(trace)},
                 {"shards", ShardNames(trace)},
                 {"keysExamined", trace.keys_examined},
                 {"docsExamined", trace.docs_examined},
                 {"nreturned", std::max<int64_t>(wire::CountReturned(reply), 0)},
                 {"outcome", Outcome(reply)},
                 {"ms", absl::ToInt64Milliseconds(took)}});
}

}  // namespace evenkeel::router
