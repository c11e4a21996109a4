// Implements parsing of the delete command.
#include "query/request/delete_request.h"

#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/batch.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

absl::Status ReadLimit(std::string_view where, const bson::Element& field, void* out) {
  if (!field.value.IsNumber()) return WrongType(where, field.key, field.value, "int");
  const std::optional<int64_t> limit = bson::ToInt64Exact(field.value);
  if (!limit || (*limit != 0 && *limit != 1)) {
    return Error(ErrorCode::kFailedToParse,
                 "The limit field in delete objects must be 0 or 1. Got {}",
                 bson::ToInt64Truncated(field.value));
  }
  static_cast<DeleteStatement*>(out)->just_one = *limit == 1;
  return absl::OkStatus();
}

constexpr FieldRule kStatementRules[] = {
    {"q", fields::Object<&DeleteStatement::q>, true},
    {"limit", ReadLimit, true},
    {"hint", fields::Hint<&DeleteStatement::hint>},
    {"collation", fields::Object<&DeleteStatement::collation>},
    {"sampleId"},
};

constexpr FieldRule kRules[] = {
    {"deletes"},
    {"ordered", fields::Bool<&DeleteRequest::ordered>},
    {"bypassDocumentValidation", fields::SafeBool<&DeleteRequest::bypass_document_validation>},
    {"let", fields::Object<&DeleteRequest::let>},
    {"stmtId", fields::Any<&DeleteRequest::stmt_id>},
    {"stmtIds", fields::Any<&DeleteRequest::stmt_ids>},
};

}  // namespace

absl::StatusOr<DeleteStatement> ParseDeleteStatement(bson::View statement) {
  DeleteStatement out;
  EVENKEEL_RETURN_IF_ERROR(
      ReadFields(statement, "delete.deletes", FieldScope::kStruct, kStatementRules, &out));
  return out;
}

absl::StatusOr<DeleteRequest> ParseDelete(bson::View command,
                                          const std::vector<bson::View>* sequence) {
  DeleteRequest request;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "delete", FieldScope::kCommand, kRules, &request));
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::View> batch,
                            ReadBatch(command, "delete", "deletes", sequence));
  request.deletes.reserve(batch.size());
  for (const bson::View statement : batch) {
    EVENKEEL_ASSIGN_OR_RETURN(DeleteStatement parsed, ParseDeleteStatement(statement));
    request.deletes.push_back(parsed);
  }
  return request;
}

}  // namespace evenkeel::query
