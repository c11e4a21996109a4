// The balancer's switch and state. The switch is kept where MongoDB's tools look for it:
// config.settings, `_id` "balancer".
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "router/config_access.h"
#include "router/ddl/balancer.h"
#include "router/ddl/entries.h"
#include "router/local/local.h"
#include "router/retry.h"
#include "router/router.h"

namespace evenkeel::router::local {
namespace {

constexpr std::string_view kSetting = "balancer";
constexpr int32_t kChunkMegabytes = 128;  // MongoDB's default, shown for tools

Awaitable<CommandResult> SetMode(CommandContext& context, bool on) {
  bson::Builder update;
  update.OpenDocument("$set");
  update.Append("mode", on ? "full" : "off").Append("stopped", !on).Close();
  EVENKEEL_CO_RETURN_IF_ERROR(co_await UpsertConfig(context.router, "settings", ById(kSetting),
                                                    update.Finish(), context.scope()));
  co_return bson::Document();
}

}  // namespace

Awaitable<CommandResult> BalancerStartCommand(CommandContext& context) {
  co_return co_await SetMode(context, true);
}

Awaitable<CommandResult> BalancerStopCommand(CommandContext& context) {
  co_return co_await SetMode(context, false);
}

Awaitable<CommandResult> BalancerStatusCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bool on, co_await ddl::IsBalancerOn(context.router));
  const Metrics& metrics = context.router.metrics;
  bson::Builder reply;
  reply.Append("mode", on ? "full" : "off")
      .Append("inBalancerRound", metrics.in_balancer_round.load())
      .Append("numBalancerRounds", metrics.balancer_rounds.load());
  co_return reply.Finish();
}

Awaitable<CommandResult> BalancerCollectionStatusCommand(CommandContext& context) {
  const bson::Value argument = context.request.argument;
  if (!argument.Is(bson::Type::kString)) {
    co_return MakeError(ErrorCode::kTypeMismatch,
                        "balancerCollectionStatus takes a namespace as a string");
  }
  const std::string ns(argument.AsString());
  RouteRetry retry(context.router, ns, context.scope());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
  if (!route || !route->entry->sharded()) {
    co_return Error(ErrorCode::kNamespaceNotSharded, "the collection '{}' is not sharded", ns);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto newest, co_await ddl::NewestAssignment(context.router));
  const bool balanced = route->entry->assignment == newest->name();
  bson::Builder reply;
  reply.Append("chunkSize", kChunkMegabytes).Append("balancerCompliant", balanced);
  if (!balanced) reply.Append("firstComplianceViolation", "chunksImbalance");
  co_return reply.Finish();
}

}  // namespace evenkeel::router::local
