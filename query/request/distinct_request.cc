// Implements parsing of the distinct command.
#include "query/request/distinct_request.h"

#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

constexpr FieldRule kRules[] = {
    {"key", fields::String<&DistinctRequest::key>, true},
    {"query", fields::Object<&DistinctRequest::query>},
    {"hint", fields::Hint<&DistinctRequest::hint>},
    {"collation", fields::CollationObject<&DistinctRequest::collation>},
};

}  // namespace

absl::StatusOr<DistinctRequest> ParseDistinct(bson::View command) {
  DistinctRequest request;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "distinct", FieldScope::kCommand, kRules, &request));
  return request;
}

}  // namespace evenkeel::query
