// startSession, refreshSessions, endSessions, and the commands that kill sessions.
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/cursor/cursors.h"
#include "router/local/local.h"
#include "router/router.h"
#include "router/session/operation_table.h"
#include "router/session/session_table.h"
#include "router/transaction/statement.h"
#include "router/uuid.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router::local {
namespace {

constexpr uint8_t kUuidSubtype = 4;
constexpr size_t kSessionsPerCommandMax = 10'000;

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

// The documents of the command's array; null stands for no document.
absl::StatusOr<std::vector<bson::View>> Elements(const CommandContext& context) {
  const bson::Value list = context.request.argument;
  const std::string_view name = context.request.facts->name;
  if (list.IsNullish()) return query::MissingField(name, name);
  if (!list.Is(bson::Type::kArray)) return query::WrongType(name, name, list, "array");
  std::vector<bson::View> documents;
  for (const auto& [key, value] : list.AsDocument()) {
    if (value.IsNullish()) continue;
    if (!value.Is(bson::Type::kObject)) return query::WrongType(name, name, value, "object");
    documents.push_back(value.AsDocument());
  }
  return documents;
}

struct UserName {
  std::string_view user, database;
};
constexpr query::FieldRule kUserFields[] = {
    {"user", query::fields::String<&UserName::user>, true},
    {"db", query::fields::String<&UserName::database>, true},
};

// A pattern of users or roles matches no session: nobody logs in.
struct SessionPattern {
  bson::View lsid;
};
constexpr query::FieldRule kPatternFields[] = {
    {"lsid", query::fields::Object<&SessionPattern::lsid>},
    {"uid"},
    {"users"},
    {"roles"},
};

std::vector<std::string> AllSessions(const RouterState& router) {
  std::vector<std::string> ids;
  for (SessionTable::Listed& session : router.sessions->List()) {
    ids.push_back(std::move(session.id));
  }
  return ids;
}

// Forgets the sessions and ends what they have open.
Awaitable<void> EndAll(RouterState& router, std::vector<std::string> ids) {
  for (const std::string& id : ids) {
    if (const auto session = router.sessions->End(id)) {
      co_await EndSession(router, session);
    } else {
      co_await CloseCursors(router.cursors->TakeOfSession(id));
    }
  }
}

// Forgets the sessions and ends what they have open and, but for this command, under way.
Awaitable<void> KillAll(CommandContext& context, std::vector<std::string> ids) {
  for (const std::string& id : ids) context.router.operations->KillOfSession(id, context.operation);
  co_await EndAll(context.router, std::move(ids));
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
  co_await EndAll(context.router, ids);
  co_return bson::Document();
}

Awaitable<CommandResult> KillSessionsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<std::string> ids, SessionIds(context));
  if (ids.empty()) ids = AllSessions(context.router);
  co_await KillAll(context, std::move(ids));
  co_return bson::Document();
}

Awaitable<CommandResult> KillAllSessionsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> users, Elements(context));
  for (const bson::View user : users) {
    UserName name;
    EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(user, "killAllSessions.killAllSessions",
                                                  query::FieldScope::kStruct, kUserFields, &name));
  }
  // Nobody logs in, so no session belongs to a user.
  if (users.empty()) co_await KillAll(context, AllSessions(context.router));
  co_return bson::Document();
}

Awaitable<CommandResult> KillAllSessionsByPatternCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> patterns, Elements(context));
  std::vector<std::string> ids;
  for (const bson::View given : patterns) {
    SessionPattern pattern;
    EVENKEEL_CO_RETURN_IF_ERROR(
        query::ReadFields(given, "killAllSessionsByPattern.killAllSessionsByPattern",
                          query::FieldScope::kStruct, kPatternFields, &pattern));
    if (pattern.lsid.empty()) continue;
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string_view id, SessionIdOf(pattern.lsid));
    ids.emplace_back(id);
  }
  if (patterns.empty()) ids = AllSessions(context.router);
  co_await KillAll(context, std::move(ids));
  co_return bson::Document();
}

}  // namespace evenkeel::router::local
