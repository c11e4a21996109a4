// getParameter: the parameters that tools ask for, and those that can be set. setParameter.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/ddl/copy_rate.h"
#include "router/local/local.h"
#include "router/router.h"

namespace evenkeel::router::local {
namespace {

// One parameter: its name and how its value is appended.
struct Parameter {
  std::string_view name;
  void (*append)(const RouterOptions& router, bson::Builder& builder, std::string_view key);
};

void AppendMechanisms(const RouterOptions&, bson::Builder& builder, std::string_view key) {
  builder.OpenArray(key).Append("0", "SCRAM-SHA-1").Append("1", "SCRAM-SHA-256").Close();
}

void AppendCompatibility(const RouterOptions&, bson::Builder& builder, std::string_view key) {
  builder.OpenDocument(key).Append("version", "7.0").Close();
}

template <int32_t kValue>
void AppendNumber(const RouterOptions&, bson::Builder& builder, std::string_view key) {
  builder.Append(key, kValue);
}

template <bool kValue>
void AppendFlag(const RouterOptions&, bson::Builder& builder, std::string_view key) {
  builder.Append(key, kValue);
}

void AppendTestCommands(const RouterOptions& router, bson::Builder& builder, std::string_view key) {
  builder.Append(key, router.test_commands);
}

// Sorted by name.
constexpr Parameter kParameters[] = {
    {"authenticationMechanisms", AppendMechanisms},
    {"cursorTimeoutMillis", AppendNumber<600'000>},
    {"enableTestCommands", AppendTestCommands},
    {"featureCompatibilityVersion", AppendCompatibility},
    {"localLogicalSessionTimeoutMinutes", AppendNumber<limits::kSessionTimeoutMinutes>},
    {"logLevel", AppendNumber<0>},
    {"maxSessions", AppendNumber<1'000'000>},
    {"quiet", AppendFlag<false>},
    {"requireApiVersion", AppendFlag<false>},
    {"ttlMonitorEnabled", AppendFlag<true>},
};

// A parameter of the router itself that can be set while it runs.
struct OwnParameter {
  std::string_view name;
  void (*append)(const RouterState& router, bson::Builder& builder, std::string_view key);
  absl::Status (*set)(RouterState& router, std::string_view name, bson::Value value);
};

void AppendMoveRate(const RouterState& router, bson::Builder& builder, std::string_view key) {
  builder.Append(key, router.copy_rate->bytes_per_second());
}

// Errors: BadValue.
absl::Status SetMoveRate(RouterState& router, std::string_view name, bson::Value value) {
  const std::optional<int64_t> bytes =
      value.IsNumber() ? bson::ToInt64Exact(value) : std::optional<int64_t>();
  if (!bytes || *bytes < 0) {
    return Error(ErrorCode::kBadValue,
                 "the parameter {} must be a number of bytes per second, 0 for no limit", name);
  }
  router.copy_rate->Set(*bytes);
  return absl::OkStatus();
}

constexpr OwnParameter kOwnParameters[] = {
    {"migrationBytesPerSecond", AppendMoveRate, SetMoveRate},
};

const OwnParameter* FindOwn(std::string_view name) {
  for (const OwnParameter& parameter : kOwnParameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

// The object form of the command's argument.
struct Selection {
  bool all = false, details = false;
  std::string_view set_at;  // "runtime", "startup", or empty: any
};
constexpr query::FieldRule kSelectionFields[] = {
    {"allParameters", query::fields::SafeBool<&Selection::all>},
    {"showDetails", query::fields::SafeBool<&Selection::details>},
    {"setAt", query::fields::String<&Selection::set_at>},
};

// Errors: TypeMismatch, 40415, BadValue for an unknown setAt.
absl::StatusOr<Selection> ReadSelection(bson::Value argument) {
  Selection selection;
  if (argument.Is(bson::Type::kString)) selection.all = argument.AsString() == "*";
  if (!argument.Is(bson::Type::kObject)) return selection;
  const bson::View options = argument.AsDocument();
  EVENKEEL_RETURN_IF_ERROR(query::ReadFields(options, "getParameter", query::FieldScope::kStruct,
                                             kSelectionFields, &selection));
  if (options.Contains("setAt") && selection.set_at != "runtime" && selection.set_at != "startup") {
    return Error(ErrorCode::kBadValue,
                 "getParameter.setAt must be 'runtime' or 'startup', not '{}'", selection.set_at);
  }
  return selection;
}

// Appends a parameter's value, which `append` does under the key that it is given.
template <typename AppendValue>
void AppendParameter(bson::Builder& reply, std::string_view name, bool settable, bool details,
                     const AppendValue& append) {
  if (!details) {
    append(name);
    return;
  }
  reply.OpenDocument(name);
  append("value");
  reply.Append("settableAtRuntime", settable).Append("settableAtStartup", settable).Close();
}

}  // namespace

Awaitable<CommandResult> GetParameterCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Selection selection, ReadSelection(context.request.argument));
  const bson::View body = context.body();
  const bson::Value all_field = body["allParameters"];
  const bool all = selection.all || (!all_field.missing() && bson::Truthy(all_field));
  bson::Builder reply;
  bool found = false;
  for (const Parameter& parameter : kParameters) {
    const bool wanted = all || body.Contains(parameter.name);
    // None of these can be set, at no time.
    if (!wanted || !selection.set_at.empty()) continue;
    AppendParameter(reply, parameter.name, false, selection.details, [&](std::string_view key) {
      parameter.append(context.router.options, reply, key);
    });
    found = true;
  }
  for (const OwnParameter& parameter : kOwnParameters) {
    if (!all && !body.Contains(parameter.name)) continue;
    AppendParameter(reply, parameter.name, true, selection.details,
                    [&](std::string_view key) { parameter.append(context.router, reply, key); });
    found = true;
  }
  const query::Settings& settings = *context.router.options.query_settings;
  for (const std::string_view name : query::Settings::Names()) {
    if (!all && !body.Contains(name)) continue;
    AppendParameter(reply, name, true, selection.details,
                    [&](std::string_view key) { settings.Append(name, reply, key); });
    found = true;
  }
  if (!found) co_return MakeError(ErrorCode::kInvalidOptions, "no option found to get");
  co_return reply.Finish();
}

Awaitable<CommandResult> SetParameterCommand(CommandContext& context) {
  query::Settings& settings = *context.router.options.query_settings;
  bson::Builder reply;
  bool found = false;
  for (const auto& [name, value] : context.body()) {
    const bool is_fixed = std::any_of(std::begin(kParameters), std::end(kParameters),
                                      [&](const Parameter& row) { return row.name == name; });
    if (is_fixed) {
      co_return Error(ErrorCode::kIllegalOperation,
                      "not allowed to change [{}] at runtime or at the start", name);
    }
    if (const OwnParameter* own = FindOwn(name)) {
      if (!std::exchange(found, true)) own->append(context.router, reply, "was");
      EVENKEEL_CO_RETURN_IF_ERROR(own->set(context.router, name, value));
      continue;
    }
    if (!query::Settings::IsKnown(name)) {
      // The command's own name and generic arguments stand among the parameters.
      if (name == "setParameter" || wire::IsGenericArgument(name)) continue;
      co_return Error(ErrorCode::kInvalidOptions, "attempted to set unrecognized parameter [{}]",
                      name);
    }
    if (!std::exchange(found, true)) settings.Append(name, reply, "was");
    EVENKEEL_CO_RETURN_IF_ERROR(settings.Set(name, value));
  }
  if (!found) co_return MakeError(ErrorCode::kInvalidOptions, "no option found to set");
  co_return reply.Finish();
}

}  // namespace evenkeel::router::local
