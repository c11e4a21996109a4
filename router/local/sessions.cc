// startSession, refreshSessions, endSessions.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/status.h"
#include "router/cursor/cursors.h"
#include "router/local/local.h"
#include "router/router.h"
#include "router/session/session_table.h"

namespace evenkeel::router::local {
namespace {

constexpr uint8_t kUuidSubtype = 4;
constexpr size_t kSessionsPerCommandMax = 10'000;

// A random UUID: version 4, variant 1 (RFC 4122).
std::string NewUuid() {
  std::string bytes(16, '\0');
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    const uint64_t random = base::GlobalRandom64();
    std::memcpy(bytes.data() + i, &random, sizeof(random));
  }
  bytes[6] = static_cast<char>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3F) | 0x80);
  return bytes;
}

// The ids of the command's array of {id: UUID}.
absl::StatusOr<std::vector<std::string>> SessionIds(const CommandContext& context) {
  const bson::Value list = context.request.argument;
  if (!list.Is(bson::Type::kArray)) {
    return Error(ErrorCode::kTypeMismatch, "'{}' must be an array of sessions",
                 context.request.name);
  }
  std::vector<std::string> ids;
  for (const auto& [key, value] : list.AsDocument()) {
    if (!value.Is(bson::Type::kObject)) {
      return Error(ErrorCode::kTypeMismatch, "'{}.{}' must be an object", context.request.name,
                   key);
    }
    EVENKEEL_ASSIGN_OR_RETURN(const std::string_view id, SessionIdOf(value.AsDocument()));
    ids.emplace_back(id);
    if (ids.size() > kSessionsPerCommandMax) {
      return Error(ErrorCode::kBadValue, "more than {} sessions in one command",
                   kSessionsPerCommandMax);
    }
  }
  return ids;
}

}  // namespace

Awaitable<CommandResult> StartSessionCommand(CommandContext& context) {
  const std::string id = NewUuid();
  if (!context.router.sessions->Use(id)) {
    co_return MakeError(Location(261), "too many sessions: no new one can begin");
  }
  bson::Builder reply;
  reply.OpenDocument("id").AppendBinary("id", kUuidSubtype, id).Close();
  reply.Append("timeoutMinutes", int32_t{limits::kSessionTimeoutMinutes});
  co_return reply.Finish();
}

Awaitable<CommandResult> RefreshSessionsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids, SessionIds(context));
  for (const std::string& id : ids) context.router.sessions->Refresh(id);
  co_return bson::Document();
}

Awaitable<CommandResult> EndSessionsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids, SessionIds(context));
  for (const std::string& id : ids) {
    context.router.sessions->End(id);
    co_await CloseCursors(context.router.cursors->TakeOfSession(id));
  }
  co_return bson::Document();
}

}  // namespace evenkeel::router::local
