// Implements parsing of the update command.
#include "query/request/update_request.h"

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/request/batch.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;

absl::Status ReadUpdate(std::string_view, const Element& field, void* out) {
  if (!field.value.Is(Type::kObject) && !field.value.Is(Type::kArray)) {
    return Error(ErrorCode::kFailedToParse, "Update argument must be either an object or an array");
  }
  static_cast<UpdateStatement*>(out)->u = field.value;
  return absl::OkStatus();
}

absl::Status ReadArrayFilters(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  auto& statement = *static_cast<UpdateStatement*>(out);
  EVENKEEL_RETURN_IF_ERROR(ReadDocuments(where, field.key, field.value).status());
  statement.array_filters = field.value.AsDocument();
  statement.has_array_filters = true;
  return absl::OkStatus();
}

constexpr FieldRule kStatementRules[] = {
    {"q", fields::Object<&UpdateStatement::q>, true},
    {"u", ReadUpdate, true},
    {"c", fields::Object<&UpdateStatement::c>},
    {"multi", fields::Bool<&UpdateStatement::multi>},
    {"upsert", fields::Bool<&UpdateStatement::upsert>},
    {"upsertSupplied", fields::SafeBool<&UpdateStatement::upsert_supplied>},
    {"arrayFilters", ReadArrayFilters},
    {"hint", fields::Hint<&UpdateStatement::hint>},
    {"collation", fields::Object<&UpdateStatement::collation>},
    {"sort", fields::Object<&UpdateStatement::sort>},
    {"sampleId"},
};

constexpr FieldRule kRules[] = {
    {"updates"},
    {"ordered", fields::Bool<&UpdateRequest::ordered>},
    {"bypassDocumentValidation", fields::SafeBool<&UpdateRequest::bypass_document_validation>},
    {"let", fields::Object<&UpdateRequest::let>},
    {"stmtId", fields::Any<&UpdateRequest::stmt_id>},
    {"stmtIds", fields::Any<&UpdateRequest::stmt_ids>},
    {"bypassEmptyTsReplacement"},
};

}  // namespace

absl::StatusOr<UpdateStatement> ParseUpdateStatement(bson::View statement) {
  UpdateStatement out;
  EVENKEEL_RETURN_IF_ERROR(
      ReadFields(statement, "update.updates", FieldScope::kStruct, kStatementRules, &out));
  if (out.multi && !out.sort.empty()) {
    return Error(ErrorCode::kFailedToParse, "Cannot specify sort with multi=true");
  }
  if (!statement["c"].IsNullish() && !out.u.Is(Type::kArray)) {
    return Error(Location(51198), "Constant values may only be specified for pipeline updates");
  }
  return out;
}

bson::Document WithConstants(bson::View constants, bson::View let) {
  bson::Builder variables(constants);
  variables.AppendFields(let);
  return variables.Finish();
}

absl::StatusOr<UpdateRequest> ParseUpdate(bson::View command,
                                          const std::vector<bson::View>* sequence) {
  UpdateRequest request;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "update", FieldScope::kCommand, kRules, &request));
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::View> batch,
                            ReadBatch(command, "update", "updates", sequence));
  request.updates.reserve(batch.size());
  for (const bson::View statement : batch) {
    EVENKEEL_ASSIGN_OR_RETURN(UpdateStatement parsed, ParseUpdateStatement(statement));
    request.updates.push_back(parsed);
  }
  return request;
}

}  // namespace evenkeel::query
