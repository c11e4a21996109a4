// The balancer's switch and state. Ranges are equal from the start, so there is nothing for it to
// do; the switch is kept where MongoDB's tools look for it: config.settings, `_id` "balancer".
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "router/config_access.h"
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
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> settings,
      co_await ReadConfig(context.router, "settings", ById(kSetting), context.scope()));
  const bson::Value stopped = settings.empty() ? bson::Value() : settings[0]["stopped"];
  const bool off = stopped.Is(bson::Type::kBool) && stopped.AsBool();
  bson::Builder reply;
  reply.Append("mode", off ? "off" : "full")
      .Append("inBalancerRound", false)
      .Append("numBalancerRounds", int64_t{0});
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
  bson::Builder reply;
  reply.Append("chunkSize", kChunkMegabytes).Append("balancerCompliant", true);
  co_return reply.Finish();
}

}  // namespace evenkeel::router::local
