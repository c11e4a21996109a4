// getParameter: the parameters that tools ask for. Nothing can be set here yet.
#include <string>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/local/local.h"
#include "router/router.h"

namespace evenkeel::router::local {
namespace {

// One parameter: its name and how its value is appended.
struct Parameter {
  std::string_view name;
  void (*append)(bson::Builder& builder, std::string_view key);
};

void AppendMechanisms(bson::Builder& builder, std::string_view key) {
  builder.OpenArray(key).Append("0", "SCRAM-SHA-1").Append("1", "SCRAM-SHA-256").Close();
}

void AppendCompatibility(bson::Builder& builder, std::string_view key) {
  builder.OpenDocument(key).Append("version", "7.0").Close();
}

template <int32_t kValue>
void AppendNumber(bson::Builder& builder, std::string_view key) {
  builder.Append(key, kValue);
}

template <bool kValue>
void AppendFlag(bson::Builder& builder, std::string_view key) {
  builder.Append(key, kValue);
}

// Sorted by name.
constexpr Parameter kParameters[] = {
    {"authenticationMechanisms", AppendMechanisms},
    {"cursorTimeoutMillis", AppendNumber<600'000>},
    {"enableTestCommands", AppendFlag<false>},
    {"featureCompatibilityVersion", AppendCompatibility},
    {"localLogicalSessionTimeoutMinutes", AppendNumber<limits::kSessionTimeoutMinutes>},
    {"logLevel", AppendNumber<0>},
    {"maxSessions", AppendNumber<1'000'000>},
    {"quiet", AppendFlag<false>},
    {"requireApiVersion", AppendFlag<false>},
    {"ttlMonitorEnabled", AppendFlag<true>},
};

bool IsSet(bson::View document, std::string_view name) {
  const bson::Value value = document[name];
  return !value.missing() && bson::Truthy(value);
}

void AppendParameter(bson::Builder& reply, const Parameter& parameter, bool details) {
  if (!details) {
    parameter.append(reply, parameter.name);
    return;
  }
  reply.OpenDocument(parameter.name);
  parameter.append(reply, "value");
  reply.Append("settableAtRuntime", false).Append("settableAtStartup", false).Close();
}

}  // namespace

Awaitable<CommandResult> GetParameterCommand(CommandContext& context) {
  const bson::Value argument = context.request.argument;
  const bson::View body = context.body();
  bool all = argument.Is(bson::Type::kString) && argument.AsString() == "*";
  bool details = false;
  if (argument.Is(bson::Type::kObject)) {
    all = IsSet(argument.AsDocument(), "allParameters");
    details = IsSet(argument.AsDocument(), "showDetails");
  }
  all = all || IsSet(body, "allParameters");
  bson::Builder reply;
  bool found = false;
  for (const Parameter& parameter : kParameters) {
    if (!all && !body.Contains(parameter.name)) continue;
    AppendParameter(reply, parameter, details);
    found = true;
  }
  if (!found) co_return MakeError(ErrorCode::kInvalidOptions, "no option found to get");
  co_return reply.Finish();
}

}  // namespace evenkeel::router::local
