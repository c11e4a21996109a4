// Commands that tell about this process and its machine.
#include <sys/utsname.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/local/local.h"
#include "router/router.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router::local {
namespace {

void AppendVersionArray(bson::Builder& reply, std::string_view version) {
  reply.OpenArray("versionArray");
  bson::ArrayAppender array(reply);
  int32_t number = 0;
  for (const char c : version) {
    if (c == '.') {
      array.Add(number);
      number = 0;
    } else if (c >= '0' && c <= '9') {
      number = number * 10 + (c - '0');
    }
  }
  array.Add(number);
  array.Add(int32_t{0});
  reply.Close();
}

// A warning as a line of MongoDB's structured log, which shells read.
std::string StructuredLine(const std::string& line) {
  const size_t space = line.find(' ');
  const std::string time = line.substr(0, space);
  bson::Builder entry;
  entry.OpenDocument("t").Append("$date", time).Close();
  entry.Append("s", "W").Append("c", "CONTROL").Append("id", int32_t{0});
  entry.Append("ctx", "start").Append("msg", line);
  return bson::ToJson(entry.Finish());
}

bson::Document LogReply(const std::vector<std::string>& lines, uint64_t total) {
  bson::Builder reply;
  reply.Append("totalLinesWritten", static_cast<int32_t>(total)).OpenArray("log");
  bson::ArrayAppender array(reply);
  for (const std::string& line : lines) array.Add(line);
  reply.Close();
  return reply.Finish();
}

// For commands without fields of their own. Errors: 40415.
absl::Status CheckNoFields(const CommandContext& context) {
  return query::ReadFields(context.body(), context.request.facts->name, query::FieldScope::kCommand,
                           {}, nullptr);
}

struct ConnectionStatusRequest {
  bool show_privileges = false;
};
constexpr query::FieldRule kConnectionStatusFields[] = {
    {"showPrivileges", query::fields::SafeBool<&ConnectionStatusRequest::show_privileges>},
};

}  // namespace

Awaitable<CommandResult> PingCommand(CommandContext&) { co_return bson::Document(); }

Awaitable<CommandResult> BuildInfoCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckNoFields(context));
  const RouterOptions& options = context.router.options;
  bson::Builder reply;
  reply.Append("version", options.version)
      .Append("gitVersion", "")
      .Append("evenkeelVersion", options.evenkeel_version);
  reply.OpenArray("modules").Close();
  reply.Append("allocator", "system").Append("javascriptEngine", "none");
  reply.Append("sysInfo", "deprecated");
  AppendVersionArray(reply, options.version);
  reply.OpenDocument("openssl").Close();
  reply.OpenDocument("buildEnvironment").Append("cxx", __VERSION__).Close();
  reply.Append("bits", int32_t{64}).Append("debug", false);
  reply.Append("maxBsonObjectSize", limits::kDocumentBytesMax);
  reply.OpenArray("storageEngines").Append("0", "evenkeel").Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> HostInfoCommand(CommandContext& context) {
  utsname system{};
  if (uname(&system) != 0) {
    co_return MakeError(ErrorCode::kOperationFailed, "the system does not tell about itself");
  }
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGE_SIZE);
  bson::Builder reply;
  reply.OpenDocument("system")
      .AppendDate("currentTime", absl::ToUnixMillis(context.router.wall->Now()))
      .Append("hostname", system.nodename)
      .Append("cpuAddrSize", int32_t{64})
      .Append("memSizeMB", pages * page_bytes >> 20)
      .Append("memLimitMB", pages * page_bytes >> 20)
      .Append("numCores", static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN)))
      .Append("cpuArch", system.machine)
      .Append("numaEnabled", false)
      .Close();
  reply.OpenDocument("os")
      .Append("type", system.sysname)
      .Append("name", system.sysname)
      .Append("version", system.release)
      .Close();
  reply.OpenDocument("extra")
      .Append("pageSize", page_bytes)
      .Append("versionString", system.version)
      .Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> GetCmdLineOptsCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckNoFields(context));
  const bson::View known = context.router.options.command_line;
  if (!known.empty()) co_return bson::Document(known);
  bson::Builder reply;
  reply.OpenArray("argv").Close().OpenDocument("parsed").Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> GetLogCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckNoFields(context));
  const bson::Value which = context.request.argument;
  if (which.IsNullish()) co_return query::MissingField("getLog", "getLog");
  if (!which.Is(bson::Type::kString)) {
    co_return MakeError(ErrorCode::kTypeMismatch, "argument to getLog must be a string");
  }
  if (which.AsString() == "*") {
    bson::Builder reply;
    reply.OpenArray("names").Append("0", "global").Append("1", "startupWarnings").Close();
    co_return reply.Finish();
  }
  if (which.AsString() == "global") {
    co_return LogReply(base::RecentLogLines(), base::TotalLogLines());
  }
  if (which.AsString() == "startupWarnings") {
    std::vector<std::string> lines = base::StartupWarningLines();
    for (std::string& line : lines) line = StructuredLine(line);
    co_return LogReply(lines, lines.size());
  }
  co_return Error(ErrorCode::kOperationFailed, "No log named '{}'", which.AsString());
}

Awaitable<CommandResult> ConnectionStatusCommand(CommandContext& context) {
  ConnectionStatusRequest request;
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(context.body(), "connectionStatus",
                                                query::FieldScope::kCommand,
                                                kConnectionStatusFields, &request));
  bson::Builder reply;
  reply.OpenDocument("authInfo");
  reply.OpenArray("authenticatedUsers").Close();
  reply.OpenArray("authenticatedUserRoles").Close();
  if (request.show_privileges) reply.OpenArray("authenticatedUserPrivileges").Close();
  reply.Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> WhatsMyUriCommand(CommandContext& context) {
  bson::Builder reply;
  reply.Append("you", context.client.remote);
  co_return reply.Finish();
}

Awaitable<CommandResult> ListCommandsCommand(CommandContext& context) {
  co_return wire::ListCommandsReply(context.router.options.test_commands);
}

}  // namespace evenkeel::router::local
