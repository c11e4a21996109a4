// profile: how slow an operation must be to be logged. A router keeps no profile, as a mongos.
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/log.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/local/local.h"
#include "router/router.h"

namespace evenkeel::router::local {
namespace {

struct ProfileRequest {
  std::optional<int64_t> slow_ms;
  bson::Value sample_rate, filter;
};
constexpr query::FieldRule kFields[] = {
    {"slowms", query::fields::Integer<&ProfileRequest::slow_ms>},
    {"sampleRate", query::fields::Any<&ProfileRequest::sample_rate>},
    {"filter", query::fields::Any<&ProfileRequest::filter>},
};

absl::Status CheckRequest(const ProfileRequest& request, bson::Value level) {
  if (!level.IsNumber()) return query::WrongType("profile", "profile", level, "number");
  const int64_t number = bson::ToInt64Truncated(level);
  if (number > 0) {
    return Error(ErrorCode::kBadValue,
                 "profile level {} is not available: a router (mongos) only logs slow operations",
                 number);
  }
  if (!request.filter.IsNullish()) {
    return MakeError(ErrorCode::kInvalidOptions, "profile.filter is not supported");
  }
  if (request.sample_rate.IsNullish()) return absl::OkStatus();
  if (!request.sample_rate.IsNumber()) {
    return query::WrongType("profile", "sampleRate", request.sample_rate, "double");
  }
  if (bson::ToInt64Truncated(request.sample_rate) != 1) {
    return MakeError(ErrorCode::kBadValue,
                     "profile.sampleRate must be 1: all slow operations are logged");
  }
  return absl::OkStatus();
}

}  // namespace

// {profile: -1} tells the settings, {profile: 0, slowms: n} changes them; the reply has what was.
Awaitable<CommandResult> ProfileCommand(CommandContext& context) {
  ProfileRequest request;
  EVENKEEL_CO_RETURN_IF_ERROR(
      query::ReadFields(context.body(), "profile", query::FieldScope::kCommand, kFields, &request));
  EVENKEEL_CO_RETURN_IF_ERROR(CheckRequest(request, context.request.argument));
  std::atomic<int64_t>& slow_ms = context.router.slow_ms;
  const int64_t was = slow_ms.load(std::memory_order_relaxed);
  if (request.slow_ms) slow_ms.store(*request.slow_ms, std::memory_order_relaxed);
  bson::Builder reply;
  reply.Append("was", int32_t{0})
      .Append("slowms", static_cast<int32_t>(was))
      .Append("sampleRate", 1.0);
  co_return reply.Finish();
}

}  // namespace evenkeel::router::local
