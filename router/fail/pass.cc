// What failCommand does to a command under way.
#include <algorithm>
#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "router/fail/command_fail_point.h"
#include "router/fail/fail.h"
#include "router/router.h"
#include "wire/protocol/commands.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::router::fail {
namespace {

Awaitable<absl::Status> Block(absl::Duration time, CommandContext& context) {
  const absl::Duration left = context.request.deadline - context.router.wall->Now();
  EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(std::min(time, left), context.cancelled));
  if (left >= time) co_return absl::OkStatus();
  co_return MakeError(ErrorCode::kMaxTimeMSExpired, "operation exceeded time limit");
}

std::vector<std::string_view> LabelsOf(const Failure& failure, const wire::Request& request) {
  if (failure.labels) return failure.LabelViews();
  const bson::Value code = (*failure.write_concern_error)["code"];
  if (!code.IsNumber()) return {};
  return wire::LabelsOf(Location(static_cast<int32_t>(bson::ToInt64Truncated(code))),
                        wire::ReplyContextOf(request));
}

}  // namespace

Awaitable<absl::Status> Pass(CommandFailPoint& point, CommandContext& context) {
  context.failure = point.Draw(context.request, context.client);
  if (!context.failure) co_return absl::OkStatus();
  const Failure& failure = *context.failure;
  if (failure.block > absl::ZeroDuration()) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Block(failure.block, context));
  }
  if (failure.close_connection) {
    context.close_connection = true;
    co_return MakeError(ErrorCode::kInterrupted, "a fail point closes the connection");
  }
  if (!failure.code) co_return absl::OkStatus();
  absl::Status error =
      Error(*failure.code, "Failing command '{}' by a fail point", context.request.name);
  co_return failure.labels ? wire::WithLabels(std::move(error), failure.LabelViews()) : error;
}

bson::Document WithWriteConcernError(bson::Document reply, const CommandContext& context) {
  const wire::Request& request = context.request;
  const bool concerned = context.failure && context.failure->write_concern_error &&
                         request.facts->flags & wire::kTakesWriteConcern;
  if (!concerned) return reply;
  bson::Builder changed;
  for (const bson::Element& field : reply.view()) {
    if (field.key != "writeConcernError") changed.Append(field.key, field.value);
  }
  changed.Append("writeConcernError", *context.failure->write_concern_error);
  wire::AppendLabels(changed, LabelsOf(*context.failure, request));
  return changed.Finish();
}

}  // namespace evenkeel::router::fail
