// Reads bulkWrite's operations into statements of insert, update and delete.
#include "router/write/bulk_request.h"

#include <iterator>
#include <utility>

#include "base/bson/builder.h"
#include "base/limits.h"
#include "base/status.h"
#include "catalog/collection.h"
#include "query/request/delete_request.h"
#include "query/request/fields.h"
#include "query/request/update_request.h"

namespace evenkeel::router::write {
namespace {

namespace fields = query::fields;

// The fields of all kinds of operations; each kind allows some of them.
struct Operation {
  std::optional<int64_t> target;
  bson::View document, filter, collation, constants, array_filters, sort;
  bson::Value update, hint;
  bool multi = false, upsert = false, upsert_supplied = false;
};

absl::Status ReadUpdateMods(std::string_view where, const bson::Element& field, void* out) {
  if (!field.value.Is(bson::Type::kObject) && !field.value.Is(bson::Type::kArray)) {
    return Error(ErrorCode::kFailedToParse, "'{}.{}' must be either an object or an array", where,
                 field.key);
  }
  static_cast<Operation*>(out)->update = field.value;
  return absl::OkStatus();
}

constexpr query::FieldRule kInsertRules[] = {
    {"insert", fields::Integer<&Operation::target>, true},
    {"document", fields::Object<&Operation::document>, true},
};
constexpr query::FieldRule kUpdateRules[] = {
    {"update", fields::Integer<&Operation::target>, true},
    {"filter", fields::Object<&Operation::filter>, true},
    {"updateMods", ReadUpdateMods, true},
    {"multi", fields::Bool<&Operation::multi>},
    {"upsert", fields::Bool<&Operation::upsert>},
    {"upsertSupplied", fields::SafeBool<&Operation::upsert_supplied>},
    {"arrayFilters", fields::Array<&Operation::array_filters>},
    {"hint", fields::Hint<&Operation::hint>},
    {"constants", fields::Object<&Operation::constants>},
    {"collation", fields::Object<&Operation::collation>},
    {"sort", fields::Object<&Operation::sort>},
    {"sampleId"},
};
constexpr query::FieldRule kDeleteRules[] = {
    {"delete", fields::Integer<&Operation::target>, true},
    {"filter", fields::Object<&Operation::filter>, true},
    {"multi", fields::Bool<&Operation::multi>},
    {"hint", fields::Hint<&Operation::hint>},
    {"collation", fields::Object<&Operation::collation>},
    {"sampleId"},
};

struct CommandFields {
  bson::View cursor;
  bson::Value stmt_id, stmt_ids;
  bool ordered = true, errors_only = false, bypass = false;
  bson::View let;
};
constexpr query::FieldRule kCommandRules[] = {
    {"ops"},
    {"nsInfo"},
    {"ordered", fields::Bool<&CommandFields::ordered>},
    {"errorsOnly", fields::Bool<&CommandFields::errors_only>},
    {"bypassDocumentValidation", fields::SafeBool<&CommandFields::bypass>},
    {"bypassEmptyTsReplacement"},
    {"let", fields::Object<&CommandFields::let>},
    {"cursor", fields::Object<&CommandFields::cursor>},
    {"stmtId", fields::Any<&CommandFields::stmt_id>},
    {"stmtIds", fields::Any<&CommandFields::stmt_ids>},
};
constexpr query::FieldRule kCursorRules[] = {
    {"batchSize", fields::NonNegative<&BulkRequest::batch_size>},
};

struct NamespaceInfo {
  std::string_view ns;
};
constexpr query::FieldRule kNamespaceRules[] = {
    {"ns", fields::String<&NamespaceInfo::ns>, true},
    {"collectionUUID"},
    {"encryptionInformation"},
};

bson::Document UpdateStatement(const Operation& operation) {
  bson::Builder out;
  out.Append("q", operation.filter).Append("u", operation.update);
  out.Append("multi", operation.multi).Append("upsert", operation.upsert);
  if (operation.upsert_supplied) out.Append("upsertSupplied", true);
  if (operation.array_filters.data() != bson::View().data()) {
    out.AppendArray("arrayFilters", operation.array_filters);
  }
  if (!operation.hint.missing()) out.Append("hint", operation.hint);
  if (!operation.constants.empty()) out.Append("c", operation.constants);
  if (!operation.collation.empty()) out.Append("collation", operation.collation);
  if (!operation.sort.empty()) out.Append("sort", operation.sort);
  return out.Finish();
}

bson::Document DeleteStatement(const Operation& operation) {
  bson::Builder out;
  out.Append("q", operation.filter).Append("limit", operation.multi ? int32_t{0} : int32_t{1});
  if (!operation.hint.missing()) out.Append("hint", operation.hint);
  if (!operation.collation.empty()) out.Append("collation", operation.collation);
  return out.Finish();
}

// One kind of operation: the field that names it, its rules, and how its statement is made.
struct Kind {
  std::string_view name;
  WriteKind kind;
  std::span<const query::FieldRule> rules;
  bson::Document (*statement)(const Operation& operation);
};
constexpr Kind kKinds[] = {
    {"insert", WriteKind::kInsert, kInsertRules,
     [](const Operation& operation) { return bson::Document(operation.document); }},
    {"update", WriteKind::kUpdate, kUpdateRules, UpdateStatement},
    {"delete", WriteKind::kDelete, kDeleteRules, DeleteStatement},
};

absl::Status CheckStatement(const BulkOperation& operation) {
  if (operation.kind == WriteKind::kUpdate) {
    return query::ParseUpdateStatement(operation.statement.view()).status();
  }
  if (operation.kind == WriteKind::kDelete) {
    return query::ParseDeleteStatement(operation.statement.view()).status();
  }
  return absl::OkStatus();
}

absl::StatusOr<BulkOperation> ParseOperation(bson::View given, size_t namespace_count) {
  const std::string_view first = given.empty() ? std::string_view() : given.Front().key;
  for (const Kind& kind : kKinds) {
    if (kind.name != first) continue;
    Operation operation;
    EVENKEEL_RETURN_IF_ERROR(query::ReadFields(given, "bulkWrite.ops", query::FieldScope::kStruct,
                                               kind.rules, &operation));
    if (*operation.target < 0 || static_cast<size_t>(*operation.target) >= namespace_count) {
      return Error(ErrorCode::kBadValue, "BulkWrite ops entry {} has an invalid nsInfo index",
                   *operation.target);
    }
    BulkOperation out{kind.kind, static_cast<size_t>(*operation.target), kind.statement(operation),
                      operation.multi};
    EVENKEEL_RETURN_IF_ERROR(CheckStatement(out));
    return out;
  }
  return Error(Location(40415), "BSON field 'bulkWrite.ops.{}' is an unknown field.", first);
}

absl::StatusOr<std::vector<std::string>> ParseNamespaces(const wire::Request& request) {
  if (request.body()["nsInfo"].Is(bson::Type::kNull)) {
    return query::MissingField("bulkWrite", "nsInfo");
  }
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::View> list, request.Documents("nsInfo"));
  std::vector<std::string> namespaces;
  for (const bson::View given : list) {
    NamespaceInfo info;
    EVENKEEL_RETURN_IF_ERROR(query::ReadFields(given, "bulkWrite.nsInfo",
                                               query::FieldScope::kStruct, kNamespaceRules, &info));
    const auto [database, collection] = catalog::SplitNamespace(info.ns);
    EVENKEEL_RETURN_IF_ERROR(catalog::CheckCollectionName(database, collection));
    namespaces.emplace_back(info.ns);
  }
  return namespaces;
}

}  // namespace

absl::StatusOr<BulkRequest> ParseBulkWrite(const wire::Request& request) {
  BulkRequest out;
  CommandFields given;
  EVENKEEL_RETURN_IF_ERROR(query::ReadFields(request.body(), "bulkWrite",
                                             query::FieldScope::kCommand, kCommandRules, &given));
  EVENKEEL_RETURN_IF_ERROR(query::ReadFields(given.cursor, "bulkWrite.cursor",
                                             query::FieldScope::kStruct, kCursorRules, &out));
  out.ordered = given.ordered;
  out.errors_only = given.errors_only;
  out.bypass_document_validation = given.bypass;
  out.let = given.let;
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::View> operations, request.Documents("ops"));
  if (operations.empty()) {
    return Error(ErrorCode::kInvalidLength,
                 "Write batch sizes must be between 1 and {}. Got 0 operations.",
                 limits::kWriteBatchCountMax);
  }
  EVENKEEL_ASSIGN_OR_RETURN(out.namespaces, ParseNamespaces(request));
  for (const bson::View operation : operations) {
    EVENKEEL_ASSIGN_OR_RETURN(BulkOperation parsed,
                              ParseOperation(operation, out.namespaces.size()));
    if (parsed.multi && request.is_retryable_write()) {
      return MakeError(ErrorCode::kInvalidOptions,
                       "a retryable bulkWrite must not have operations that change several "
                       "documents");
    }
    out.operations.push_back(std::move(parsed));
  }
  EVENKEEL_ASSIGN_OR_RETURN(out.ids,
                            StatementIds(given.stmt_id, given.stmt_ids, operations.size()));
  return out;
}

}  // namespace evenkeel::router::write
