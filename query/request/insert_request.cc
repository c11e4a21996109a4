// Implements parsing of the insert command.
#include "query/request/insert_request.h"

#include "base/status.h"
#include "query/request/batch.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

constexpr FieldRule kRules[] = {
    {"documents"},
    {"ordered", fields::Bool<&InsertRequest::ordered>},
    {"bypassDocumentValidation", fields::SafeBool<&InsertRequest::bypass_document_validation>},
    {"stmtId", fields::Any<&InsertRequest::stmt_id>},
    {"stmtIds", fields::Any<&InsertRequest::stmt_ids>},
    {"bypassEmptyTsReplacement"},
};

}  // namespace

absl::StatusOr<InsertRequest> ParseInsert(bson::View command,
                                          const std::vector<bson::View>* sequence) {
  InsertRequest request;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "insert", FieldScope::kCommand, kRules, &request));
  EVENKEEL_ASSIGN_OR_RETURN(request.documents, ReadBatch(command, "insert", "documents", sequence));
  return request;
}

}  // namespace evenkeel::query
