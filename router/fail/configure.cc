// configureFailPoint.
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/fail/command_fail_point.h"
#include "router/fail/fail.h"
#include "router/fail/mode.h"
#include "router/router.h"

namespace evenkeel::router::fail {
namespace {

using base::FailPointMode;
using Kind = FailPointMode::Kind;

constexpr ErrorCode kFailPointSetFailed = Location(266);

bson::Document CountReply(uint64_t count) {
  bson::Builder reply;
  reply.Append("count", static_cast<int32_t>(count));
  return reply.Finish();
}

// The `data` of a point of the engine.
struct PointData {
  std::string_view action = "fail";
  std::string_view shard;  // empty: everywhere
};
constexpr query::FieldRule kPointFields[] = {
    {"action", query::fields::String<&PointData::action>},
    {"shard", query::fields::String<&PointData::shard>},
};

// The mode with an action in it. Errors: BadValue for actions that are not known or not possible in
// that mode.
absl::StatusOr<FailPointMode> WithAction(FailPointMode mode, std::string_view action) {
  if (action == "fail" || mode.kind == Kind::kOff) return mode;
  if (action == "pause" && mode.kind == Kind::kAlways) return FailPointMode::Pause();
  if (action == "crash" && mode.kind == Kind::kAlways) return FailPointMode::Crash(1);
  if (action == "crash" && mode.kind == Kind::kSkip) return FailPointMode::Crash(mode.nth + 1);
  if (action == "once" && mode.kind == Kind::kAlways) return FailPointMode::Nth(1);
  if (action == "once" && mode.kind == Kind::kSkip) return FailPointMode::Nth(mode.nth + 1);
  return Error(ErrorCode::kBadValue,
               "a fail point's action '{}' is unknown or not possible in this mode", action);
}

// Sets the point in the processes of these shards.
Awaitable<absl::StatusOr<uint64_t>> SetOnShards(CommandContext& context, std::string spec,
                                                std::vector<ShardId> shards) {
  bson::Builder body;
  body.Append("_setFailPoint", spec).Append("$db", "admin");
  const bson::Document command = body.Finish();
  uint64_t count = 0;
  for (const ShardId shard : shards) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document reply,
                                 co_await context.router.cluster->Call(
                                     shard, command, context.request.deadline, context.cancelled));
    const bson::Value hits = reply["count"];
    if (hits.IsNumber()) count += static_cast<uint64_t>(bson::ToInt64Truncated(hits));
  }
  co_return count;
}

// A row of base/fail_points.inc.
Awaitable<CommandResult> ConfigurePoint(CommandContext& context, std::string_view name,
                                        FailPointMode mode, bson::View data) {
  const base::FailPoint* point = base::FindFailPoint(name);
  if (point == nullptr) co_return Error(kFailPointSetFailed, "{} not found", name);
  PointData options;
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(
      data, "configureFailPoint.data", query::FieldScope::kStruct, kPointFields, &options));
  EVENKEEL_CO_ASSIGN_OR_RETURN(mode, WithAction(mode, options.action));
  Cluster& cluster = *context.router.cluster;
  std::vector<ShardId> shards = cluster.AllShards();
  if (!options.shard.empty()) {
    const std::string wanted(options.shard);
    EVENKEEL_CO_ASSIGN_OR_RETURN(const ShardId shard,
                                 co_await cluster.ResolveShard(wanted, context.scope()));
    shards.assign(1, shard);
  }
  const std::string spec = std::string(name) + "=" + ModeText(mode);
  const bool shares_process = context.router.options.owns_shards;
  uint64_t count = 0;
  if (shares_process || options.shard.empty()) {
    count = point->total_hits();
    EVENKEEL_CO_RETURN_IF_ERROR(base::ConfigureFailPoints(spec));
  }
  if (!shares_process) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const uint64_t there,
                                 co_await SetOnShards(context, spec, std::move(shards)));
    count += there;
  }
  co_return CountReply(count);
}

}  // namespace

Awaitable<CommandResult> ConfigureFailPointCommand(CommandContext& context) {
  const bson::View body = context.body();
  if (!context.request.argument.Is(bson::Type::kString)) {
    co_return MakeError(ErrorCode::kTypeMismatch, "configureFailPoint takes a fail point's name");
  }
  const std::string_view name = context.request.argument.AsString();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const FailPointMode mode, ParseMode(body["mode"]));
  const bson::Value data = body["data"];
  if (!data.IsNullish() && !data.Is(bson::Type::kObject)) {
    co_return MakeError(ErrorCode::kTypeMismatch, "the 'data' of a fail point must be an object");
  }
  const bson::View options = data.IsNullish() ? bson::View() : data.AsDocument();
  base::LogWarning("router", "a fail point is set", {{"name", name}, {"mode", ModeText(mode)}});
  CommandFailPoint* const point = context.router.fail_points->Find(name);
  if (point == nullptr) co_return co_await ConfigurePoint(context, name, mode, options);
  EVENKEEL_CO_ASSIGN_OR_RETURN(CommandRule rule, CommandRule::Parse(options));
  // It stands behind the choice of the command.
  if (point == &context.router.fail_points->fail_get_more) rule.all_commands = true;
  const uint64_t hits = point->hits();
  point->Set(mode, std::move(rule));
  co_return CountReply(hits);
}

}  // namespace evenkeel::router::fail
