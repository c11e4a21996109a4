// Completes documents.
#include "router/write/document.h"

#include "base/bson/builder.h"
#include "base/bson/validate.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::router::write {
namespace {

absl::Status CheckId(bson::Value id) {
  switch (id.type()) {
    case bson::Type::kArray:
      return MakeError(ErrorCode::kInvalidIdField, "The '_id' value cannot be of type array");
    case bson::Type::kRegex:
      return MakeError(ErrorCode::kInvalidIdField, "The '_id' value cannot be of type regex");
    case bson::Type::kUndefined:
      return MakeError(ErrorCode::kInvalidIdField, "The '_id' value cannot be of type undefined");
    case bson::Type::kObject:
      for (const auto& field : id.AsDocument()) {
        if (field.key.starts_with('$')) {
          return Error(ErrorCode::kDollarPrefixedFieldName,
                       "_id fields may not contain '$'-prefixed fields: '{}' is not valid",
                       field.key);
        }
      }
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

// What one pass over the top-level fields finds.
struct Findings {
  bson::Value id;
  bool id_first = false;
  bool nested = false;
  bool zero_timestamp = false;
};

Findings Inspect(bson::View document) {
  Findings found;
  bool first = true;
  for (const auto& [key, value] : document) {
    if (found.id.missing() && key == "_id") {
      found.id = value;
      found.id_first = first;
    } else if (value.Is(bson::Type::kTimestamp) && value.AsTimestamp().bits == 0) {
      found.zero_timestamp = true;
    }
    found.nested = found.nested || value.Is(bson::Type::kObject) || value.Is(bson::Type::kArray);
    first = false;
  }
  return found;
}

bson::Document Rebuild(bson::View document, bson::Value id, base::HybridClock& clock) {
  bson::Builder builder;
  if (id.missing()) {
    builder.AppendObjectId("_id", bson::NewObjectId());
  } else {
    builder.Append("_id", id);
  }
  bool id_seen = false;
  for (const auto& [key, value] : document) {
    if (!id_seen && key == "_id") {
      id_seen = true;
    } else if (value.Is(bson::Type::kTimestamp) && value.AsTimestamp().bits == 0) {
      builder.Append(key, clock.Tick());
    } else {
      builder.Append(key, value);
    }
  }
  return builder.Finish();
}

}  // namespace

absl::StatusOr<std::optional<bson::Document>> PrepareDocument(bson::View document,
                                                              base::HybridClock& clock) {
  if (document.SizeBytes() > static_cast<size_t>(limits::kDocumentBytesMax)) {
    return Error(ErrorCode::kBSONObjectTooLarge,
                 "object to insert too large. size in bytes: {}, max size: {}",
                 document.SizeBytes(), limits::kDocumentBytesMax);
  }
  const Findings found = Inspect(document);
  EVENKEEL_RETURN_IF_ERROR(CheckId(found.id));
  // Commands may nest deeper than documents that are stored.
  if (found.nested) {
    EVENKEEL_RETURN_IF_ERROR(bson::Validate(document.Bytes(), limits::kBsonDepthMax));
  }
  if (found.id_first && !found.zero_timestamp) return std::nullopt;
  return Rebuild(document, found.id, clock);
}

}  // namespace evenkeel::router::write
