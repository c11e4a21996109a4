// Fail points that are set at run time.
#include "shard/command/fail_points.h"

#include "base/bson/builder.h"
#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"

namespace evenkeel::shard {

Awaitable<CommandResult> SetFailPointCommand(CommandContext& context) {
  const bson::Value spec = context.body().Front().value;
  if (!spec.Is(bson::Type::kString)) {
    co_return MakeError(ErrorCode::kTypeMismatch, "_setFailPoint takes a string");
  }
  const std::string_view text = spec.AsString();
  const base::FailPoint* point = base::FindFailPoint(text.substr(0, text.find('=')));
  const uint64_t hits = point == nullptr ? 0 : point->total_hits();
  EVENKEEL_CO_RETURN_IF_ERROR(base::ConfigureFailPoints(text));
  base::LogWarning("shard", "a fail point is set", {{"spec", text}});
  bson::Builder reply;
  reply.Append("count", static_cast<int64_t>(hits));
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
