// Implements parsing of the count command.
#include "query/request/count_request.h"

#include <limits>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

absl::Status ReadLimit(std::string_view, const bson::Element& field, void* out) {
  if (!field.value.IsNumber()) {
    return Error(ErrorCode::kBadValue, "limit value is not a valid number: {}",
                 bson::ToDisplay(field.value));
  }
  const int64_t limit = bson::ToInt64Truncated(field.value);
  if (limit == std::numeric_limits<int64_t>::min()) {
    return Error(ErrorCode::kBadValue, "limit value for count cannot be min long");
  }
  static_cast<CountRequest*>(out)->limit = limit < 0 ? -limit : limit;
  return absl::OkStatus();
}

absl::Status ReadSkip(std::string_view where, const bson::Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  auto& skip = static_cast<CountRequest*>(out)->skip;
  EVENKEEL_RETURN_IF_ERROR(fields::ReadInteger(where, field, &skip));
  if (skip < 0) {
    return Error(ErrorCode::kBadValue, "skip value must be non-negative, got {}", skip);
  }
  return absl::OkStatus();
}

constexpr FieldRule kRules[] = {
    {"query", fields::Object<&CountRequest::query>},
    {"limit", ReadLimit},
    {"skip", ReadSkip},
    {"hint", fields::Hint<&CountRequest::hint>},
    {"collation", fields::CollationObject<&CountRequest::collation>},
    {"fields"},
    {"encryptionInformation"},
};

}  // namespace

absl::StatusOr<CountRequest> ParseCount(bson::View command) {
  CountRequest request;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "count", FieldScope::kCommand, kRules, &request));
  return request;
}

}  // namespace evenkeel::query
