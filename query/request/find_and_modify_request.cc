// Implements parsing of the findAndModify command.
#include "query/request/find_and_modify_request.h"

#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;

absl::Status ReadUpdate(std::string_view, const Element& field, void* out) {
  if (!field.value.Is(Type::kObject) && !field.value.Is(Type::kArray)) {
    return Error(ErrorCode::kFailedToParse, "Update argument must be either an object or an array");
  }
  static_cast<FindAndModifyRequest*>(out)->update = field.value;
  return absl::OkStatus();
}

absl::Status ReadArrayFilters(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  auto& request = *static_cast<FindAndModifyRequest*>(out);
  EVENKEEL_RETURN_IF_ERROR(ReadDocuments(where, field.key, field.value).status());
  request.array_filters = field.value.AsDocument();
  request.has_array_filters = true;
  return absl::OkStatus();
}

constexpr FieldRule kRules[] = {
    {"query", fields::Object<&FindAndModifyRequest::query>},
    {"sort", fields::Object<&FindAndModifyRequest::sort>},
    {"fields", fields::Object<&FindAndModifyRequest::fields>},
    {"let", fields::Object<&FindAndModifyRequest::let>},
    {"collation", fields::CollationObject<&FindAndModifyRequest::collation>},
    {"update", ReadUpdate},
    {"hint", fields::Hint<&FindAndModifyRequest::hint>},
    {"arrayFilters", ReadArrayFilters},
    {"remove", fields::SafeBool<&FindAndModifyRequest::remove>},
    {"new", fields::SafeBool<&FindAndModifyRequest::return_new>},
    {"upsert", fields::SafeBool<&FindAndModifyRequest::upsert>},
    {"bypassDocumentValidation",
     fields::SafeBool<&FindAndModifyRequest::bypass_document_validation>},
    {"stmtId", fields::Any<&FindAndModifyRequest::stmt_id>},
    {"sampleId"},
    {"bypassEmptyTsReplacement"},
};

absl::Status CheckTogether(const FindAndModifyRequest& request) {
  const bool update = !request.update.missing();
  const auto refuse = [](std::string_view message) {
    return MakeError(ErrorCode::kFailedToParse, message);
  };
  if (!request.remove) {
    return update ? absl::OkStatus() : refuse("Either an update or remove=true must be specified");
  }
  if (update) return refuse("Cannot specify both an update and remove=true");
  if (request.upsert) return refuse("Cannot specify both upsert=true and remove=true");
  if (request.has_array_filters) {
    return refuse("Cannot specify arrayFilters and remove=true");
  }
  if (request.return_new) {
    return refuse(
        "Cannot specify both new=true and remove=true; 'remove' always returns the "
        "deleted document");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FindAndModifyRequest> ParseFindAndModify(bson::View command) {
  FindAndModifyRequest request;
  EVENKEEL_RETURN_IF_ERROR(
      ReadFields(command, "findAndModify", FieldScope::kCommand, kRules, &request));
  EVENKEEL_RETURN_IF_ERROR(CheckTogether(request));
  return request;
}

}  // namespace evenkeel::query
