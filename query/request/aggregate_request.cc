// Implements parsing of the aggregate command.
#include "query/request/aggregate_request.h"

#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;

struct CursorOptions {
  std::optional<int64_t> batch_size;
};

absl::Status ReadBatchSize(std::string_view where, const Element& field, void* out) {
  auto& options = *static_cast<CursorOptions*>(out);
  EVENKEEL_RETURN_IF_ERROR(fields::ReadInteger(where, field, &options.batch_size.emplace()));
  if (*options.batch_size < 0) {
    return Error(ErrorCode::kBadValue, "cursor.batchSize must be non-negative, got {}",
                 *options.batch_size);
  }
  return absl::OkStatus();
}

constexpr FieldRule kCursorRules[] = {{"batchSize", ReadBatchSize}};

absl::Status ReadCursor(std::string_view where, const Element& field, void* out) {
  if (!field.value.Is(Type::kObject)) return WrongType(where, field.key, field.value, "object");
  CursorOptions options;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(field.value.AsDocument(), "aggregate.cursor",
                                      FieldScope::kStruct, kCursorRules, &options));
  auto& request = *static_cast<AggregateRequest*>(out);
  request.has_cursor = true;
  request.batch_size = options.batch_size;
  return absl::OkStatus();
}

absl::Status ReadPipeline(std::string_view where, const Element& field, void* out) {
  if (!field.value.Is(Type::kArray)) return WrongType(where, field.key, field.value, "array");
  EVENKEEL_RETURN_IF_ERROR(ReadDocuments(where, field.key, field.value).status());
  static_cast<AggregateRequest*>(out)->pipeline = field.value.AsDocument();
  return absl::OkStatus();
}

constexpr FieldRule kRules[] = {
    {"pipeline", ReadPipeline, true},
    {"let", fields::Object<&AggregateRequest::let>},
    {"collation", fields::CollationObject<&AggregateRequest::collation>},
    {"hint", fields::Hint<&AggregateRequest::hint>},
    {"cursor", ReadCursor},
    {"explain", fields::SafeBool<&AggregateRequest::explain>},
    {"allowDiskUse", fields::SafeBool<&AggregateRequest::allow_disk_use>},
    {"bypassDocumentValidation", fields::SafeBool<&AggregateRequest::bypass_document_validation>},
    {"fromMongos"},
    {"fromRouter"},
    {"needsMerge"},
    {"exchange"},
    {"runtimeConstants"},
    {"isMapReduceCommand"},
    {"querySettings"},
};

absl::Status ReadTarget(bson::Value target, AggregateRequest* request) {
  if (!target.IsNumber()) return CollectionName(target).status();
  if (bson::ToInt64Exact(target) != 1) {
    return Error(
        ErrorCode::kBadValue,
        "Invalid command format: the 'aggregate' field must specify a collection name or 1");
  }
  request->whole_database = true;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AggregateRequest> ParseAggregate(bson::View command) {
  AggregateRequest request;
  EVENKEEL_RETURN_IF_ERROR(ReadTarget(command.Front().value, &request));
  EVENKEEL_RETURN_IF_ERROR(
      ReadFields(command, "aggregate", FieldScope::kCommand, kRules, &request));
  if (!request.has_cursor && !request.explain) {
    return Error(ErrorCode::kFailedToParse,
                 "The 'cursor' option is required, except for aggregate with the explain argument");
  }
  return request;
}

}  // namespace evenkeel::query
