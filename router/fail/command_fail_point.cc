// Which commands a fail point hits.
#include "router/fail/command_fail_point.h"

#include <algorithm>
#include <utility>

#include "base/bson/number.h"
#include "wire/protocol/commands.h"
#include "wire/protocol/field_errors.h"

namespace evenkeel::router::fail {
namespace {

using bson::Type;
using Kind = base::FailPointMode::Kind;

// Parses the fields of `data` one by one; the first error stays.
class DataReader {
 public:
  explicit DataReader(bson::View data) : data_(data) {}

  // The value of a field; missing if it is null, absent or of another type.
  bson::Value Take(std::string_view field, Type type, std::string_view expected) {
    const bson::Value value = data_[field];
    if (value.IsNullish() || value.Is(type)) return value.IsNullish() ? bson::Value() : value;
    Fail(wire::WrongTypeError(field, value.type(), expected));
    return {};
  }
  bool Flag(std::string_view field) {
    const bson::Value value = Take(field, Type::kBool, "bool");
    return !value.missing() && value.AsBool();
  }
  std::string Text(std::string_view field) {
    const bson::Value value = Take(field, Type::kString, "string");
    return value.missing() ? std::string() : std::string(value.AsString());
  }
  std::optional<int64_t> Number(std::string_view field) {
    const bson::Value value = data_[field];
    if (value.IsNullish()) return std::nullopt;
    if (value.IsNumber()) return bson::ToInt64Truncated(value);
    Fail(wire::WrongTypeError(field, value.type(), "long"));
    return std::nullopt;
  }
  std::optional<std::vector<std::string>> Texts(std::string_view field) {
    const bson::Value value = Take(field, Type::kArray, "array");
    if (value.missing()) return std::nullopt;
    std::vector<std::string> texts;
    for (const bson::Element& element : value.AsDocument()) {
      if (element.value.Is(Type::kString)) {
        texts.emplace_back(element.value.AsString());
      } else {
        Fail(wire::WrongTypeError(field, element.value.type(), "string"));
      }
    }
    return texts;
  }
  void Fail(absl::Status error) {
    if (status_.ok()) status_ = std::move(error);
  }
  const absl::Status& status() const { return status_; }

 private:
  bson::View data_;
  absl::Status status_;
};

void ReadBlock(DataReader& reader, Failure& failure) {
  const bool blocks = reader.Flag("blockConnection");
  const std::optional<int64_t> time = reader.Number("blockTimeMS");
  if (!blocks) return;
  if (!time || *time < 0) {
    reader.Fail(MakeError(ErrorCode::kInvalidOptions,
                          "blockConnection needs a 'blockTimeMS' that is not negative"));
    return;
  }
  failure.block = absl::Milliseconds(*time);
}

void ReadCode(DataReader& reader, Failure& failure) {
  const std::optional<int64_t> code = reader.Number("errorCode");
  if (!code) return;
  if (*code == 0) reader.Fail(MakeError(ErrorCode::kBadValue, "errorCode must not be 0"));
  failure.code = Location(static_cast<int32_t>(*code));
}

// The application's name, from what the client said in its handshake or is saying in this one.
std::string_view AppNameOf(const wire::Request& request, const wire::ClientState& client) {
  bson::View metadata = client.metadata.view();
  const bson::Value own = request.body()["client"];
  if (metadata.empty() && request.facts->flags & wire::kNoLogin && own.Is(Type::kObject)) {
    metadata = own.AsDocument();
  }
  const bson::Value application = metadata["application"];
  if (!application.Is(Type::kObject)) return {};
  const bson::Value name = application.AsDocument()["name"];
  return name.Is(Type::kString) ? name.AsString() : std::string_view();
}

bool IsOnNamespace(const wire::Request& request, std::string_view ns) {
  const bson::Value collection =
      request.facts->name == "getMore" ? request.body()["collection"] : request.argument;
  if (!collection.Is(Type::kString)) return false;
  const std::string_view name = collection.AsString();
  return ns.size() == request.database.size() + 1 + name.size() &&
         ns.starts_with(request.database) && ns[request.database.size()] == '.' &&
         ns.ends_with(name);
}

bool IsNamed(const wire::Request& request, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return wire::FindCommand(name) == request.facts;
  });
}

}  // namespace

std::vector<std::string_view> Failure::LabelViews() const {
  return labels ? std::vector<std::string_view>(labels->begin(), labels->end())
                : std::vector<std::string_view>();
}

absl::StatusOr<CommandRule> CommandRule::Parse(bson::View data) {
  DataReader reader(data);
  CommandRule rule;
  auto failure = std::make_shared<Failure>();
  rule.commands = reader.Texts("failCommands").value_or(std::vector<std::string>());
  rule.all_commands = reader.Flag("failAllCommands");
  rule.app_name = reader.Text("appName");
  rule.ns = reader.Text("namespace");
  ReadBlock(reader, *failure);
  ReadCode(reader, *failure);
  failure->close_connection = reader.Flag("closeConnection");
  failure->labels = reader.Texts("errorLabels");
  // Other processes of the cluster do not send their requests to routers.
  (void)reader.Flag("failInternalCommands");
  const bson::Value concern = reader.Take("writeConcernError", Type::kObject, "object");
  if (!concern.missing()) failure->write_concern_error = bson::Document(concern.AsDocument());
  EVENKEEL_RETURN_IF_ERROR(reader.status());
  rule.failure = std::move(failure);
  return rule;
}

bool CommandRule::Concerns(const wire::Request& request, const wire::ClientState& client) const {
  if (request.facts->name == "configureFailPoint") return false;
  if (!all_commands && !IsNamed(request, commands)) return false;
  if (!app_name.empty() && AppNameOf(request, client) != app_name) return false;
  return ns.empty() || IsOnNamespace(request, ns);
}

void CommandFailPoint::Set(base::FailPointMode mode, CommandRule rule) {
  absl::MutexLock lock(&mutex_);
  mode_ = mode;
  rule_ = std::move(rule);
  passes_ = 0;
}

std::shared_ptr<const Failure> CommandFailPoint::Draw(const wire::Request& request,
                                                      const wire::ClientState& client) {
  absl::MutexLock lock(&mutex_);
  if (mode_.kind == Kind::kOff || !rule_.Concerns(request, client)) return nullptr;
  ++passes_;
  if (!mode_.Hits(passes_)) return nullptr;
  ++hits_;
  return rule_.failure;
}

uint64_t CommandFailPoint::hits() const {
  absl::MutexLock lock(&mutex_);
  return hits_;
}

CommandFailPoint* CommandFailPoints::Find(std::string_view name) {
  if (name == "failCommand") return &fail_command;
  return name == "failGetMoreAfterCursorCheckout" ? &fail_get_more : nullptr;
}

}  // namespace evenkeel::router::fail
