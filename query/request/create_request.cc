// Implements parsing of the create command.
#include "query/request/create_request.h"

#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;

constexpr int64_t kCappedBytesMax = int64_t{1} << 50;

absl::Status ReadValidator(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  auto& request = *static_cast<CreateRequest*>(out);
  request.has_validator = true;
  return fields::ReadObject(where, field, &request.validator);
}

absl::Status ReadLevel(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  std::string_view level;
  EVENKEEL_RETURN_IF_ERROR(fields::ReadString(where, field, &level));
  if (level != "off" && level != "strict" && level != "moderate") {
    return Error(ErrorCode::kBadValue,
                 "Enumeration value '{}' for field 'create.validationLevel' is not a valid value.",
                 level);
  }
  static_cast<CreateRequest*>(out)->validation_level = level;
  return absl::OkStatus();
}

absl::Status ReadAction(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  std::string_view action;
  EVENKEEL_RETURN_IF_ERROR(fields::ReadString(where, field, &action));
  if (action != "error" && action != "warn" && action != "errorAndLog") {
    return Error(ErrorCode::kBadValue,
                 "Enumeration value '{}' for field 'create.validationAction' is not a valid value.",
                 action);
  }
  static_cast<CreateRequest*>(out)->validation_action = action;
  return absl::OkStatus();
}

absl::Status ReadSize(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  int64_t size = 0;
  EVENKEEL_RETURN_IF_ERROR(fields::ReadInteger(where, field, &size));
  if (size < 1 || size > kCappedBytesMax) {
    return Error(ErrorCode::kBadValue, "BSON field 'size' value must be between 1 and {}, got {}",
                 kCappedBytesMax, size);
  }
  static_cast<CreateRequest*>(out)->size_bytes = size;
  return absl::OkStatus();
}

absl::Status ReadClusteredIndex(std::string_view where, const Element& field, void* out) {
  if (!field.value.Is(Type::kObject) && !field.value.Is(Type::kBool) && !field.value.IsNumber()) {
    return WrongType(where, field.key, field.value, "[bool, object, long, int, decimal, double]");
  }
  static_cast<CreateRequest*>(out)->clustered_index = field.value;
  return absl::OkStatus();
}

absl::Status ReadViewOn(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  auto& view_on = static_cast<CreateRequest*>(out)->view_on;
  EVENKEEL_RETURN_IF_ERROR(fields::ReadString(where, field, &view_on));
  if (view_on.empty()) return Error(ErrorCode::kBadValue, "'viewOn' cannot be empty");
  return absl::OkStatus();
}

absl::Status ReadPipeline(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  EVENKEEL_RETURN_IF_ERROR(ReadDocuments(where, field.key, field.value).status());
  static_cast<CreateRequest*>(out)->pipeline = field.value.AsDocument();
  return absl::OkStatus();
}

template <auto kMember>
absl::Status ReadObjectValue(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  if (!field.value.Is(Type::kObject)) return WrongType(where, field.key, field.value, "object");
  fields::Target<kMember>(out) = field.value;
  return absl::OkStatus();
}

absl::Status ReadExpiry(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  int64_t ignored = 0;
  EVENKEEL_RETURN_IF_ERROR(fields::ReadInteger(where, field, &ignored));
  static_cast<CreateRequest*>(out)->expire_after_seconds = field.value;
  return absl::OkStatus();
}

constexpr FieldRule kRules[] = {
    {"capped", fields::SafeBool<&CreateRequest::capped>},
    {"size", ReadSize},
    {"max", fields::Integer<&CreateRequest::max_documents>},
    {"validator", ReadValidator},
    {"validationLevel", ReadLevel},
    {"validationAction", ReadAction},
    {"collation", fields::CollationObject<&CreateRequest::collation>},
    {"viewOn", ReadViewOn},
    {"pipeline", ReadPipeline},
    {"clusteredIndex", ReadClusteredIndex},
    {"timeseries", ReadObjectValue<&CreateRequest::timeseries>},
    {"expireAfterSeconds", ReadExpiry},
    {"encryptedFields", ReadObjectValue<&CreateRequest::encrypted_fields>},
    {"changeStreamPreAndPostImages",
     fields::Object<&CreateRequest::change_stream_pre_and_post_images>},
    {"storageEngine", fields::Object<&CreateRequest::storage_engine>},
    {"indexOptionDefaults", fields::Object<&CreateRequest::index_option_defaults>},
    {"idIndex", fields::Object<&CreateRequest::id_index>},
    {"autoIndexId"},
    {"flags"},
    {"temp"},
    {"recordIdsReplicated"},
};

absl::Status CheckTogether(const CreateRequest& request, bool has_pipeline) {
  const auto refuse = [](std::string_view message) {
    return MakeError(ErrorCode::kInvalidOptions, message);
  };
  const bool clustered = !request.clustered_index.missing();
  if (clustered && request.capped) {
    return Error(Location(6049200), "Capped collections are not supported with clusteredIndex");
  }
  if (clustered && !request.id_index.empty()) {
    return refuse("The 'clusteredIndex' option is not supported with the 'idIndex' option");
  }
  if (request.capped && !request.size_bytes)
    return refuse("the 'size' field is required when 'capped' is true");
  if (!request.capped && (request.size_bytes || request.max_documents)) {
    return refuse(
        "the 'capped' field needs to be true when either the 'size' or 'max' fields are present");
  }
  if (has_pipeline && request.view_on.empty()) {
    return refuse("'pipeline' cannot be specified without 'viewOn'");
  }
  const bool expires = !request.expire_after_seconds.missing();
  if (!request.view_on.empty() &&
      (request.capped || expires || clustered || !request.storage_engine.empty())) {
    return refuse("the option is not valid for a view");
  }
  if (expires && !clustered && request.timeseries.missing()) {
    return refuse(
        "'expireAfterSeconds' is only supported on time-series collections or when the "
        "'clusteredIndex' option is specified");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CreateRequest> ParseCreate(bson::View command) {
  CreateRequest request;
  EVENKEEL_RETURN_IF_ERROR(CollectionName(command.Front().value).status());
  EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "create", FieldScope::kCommand, kRules, &request));
  EVENKEEL_RETURN_IF_ERROR(CheckTogether(request, !command["pipeline"].IsNullish()));
  return request;
}

}  // namespace evenkeel::query
