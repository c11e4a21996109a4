// Implements parsing of the getMore and killCursors commands.
#include "query/request/cursor_request.h"

#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;

absl::Status ReadBatchSize(std::string_view where, const Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  int64_t size = 0;
  EVENKEEL_RETURN_IF_ERROR(fields::ReadInteger(where, field, &size));
  if (size < 0) {
    return Error(ErrorCode::kBadValue,
                 "Batch size for getMore must be non-negative, but received: {}", size);
  }
  if (size > 0) static_cast<GetMoreRequest*>(out)->batch_size = size;
  return absl::OkStatus();
}

constexpr FieldRule kGetMoreRules[] = {
    {"collection", fields::String<&GetMoreRequest::collection>, true},
    {"batchSize", ReadBatchSize},
    {"term"},
    {"lastKnownCommittedOpTime"},
    {"includeQueryStatsMetrics"},
};

absl::Status ReadCursors(std::string_view where, const Element& field, void* out) {
  if (!field.value.Is(Type::kArray)) return WrongType(where, field.key, field.value, "array");
  auto& cursors = static_cast<KillCursorsRequest*>(out)->cursors;
  for (const Element& element : field.value.AsDocument()) {
    if (!element.value.Is(Type::kInt64)) {
      return WrongType("killCursors.cursors", element.key, element.value, "long");
    }
    cursors.push_back({element.value.AsInt64()});
  }
  return absl::OkStatus();
}

constexpr FieldRule kKillCursorsRules[] = {{"cursors", ReadCursors, true}};

}  // namespace

absl::StatusOr<GetMoreRequest> ParseGetMore(bson::View command) {
  GetMoreRequest request;
  const Element first = command.Front();
  if (!first.value.Is(Type::kInt64)) {
    return WrongType("getMore", "getMore", first.value, "long");
  }
  request.cursor = {first.value.AsInt64()};
  EVENKEEL_RETURN_IF_ERROR(
      ReadFields(command, "getMore", FieldScope::kCommand, kGetMoreRules, &request));
  if (request.collection.empty()) {
    return Error(ErrorCode::kInvalidNamespace, "Collection names cannot be empty");
  }
  return request;
}

absl::StatusOr<KillCursorsRequest> ParseKillCursors(bson::View command) {
  KillCursorsRequest request;
  EVENKEEL_ASSIGN_OR_RETURN(request.collection, CollectionName(command.Front().value));
  EVENKEEL_RETURN_IF_ERROR(
      ReadFields(command, "killCursors", FieldScope::kCommand, kKillCursorsRules, &request));
  if (request.cursors.empty()) {
    return Error(ErrorCode::kBadValue, "Must specify at least one cursor id in: 'killCursors'");
  }
  return request;
}

}  // namespace evenkeel::query
