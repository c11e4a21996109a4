// Implements parsing of the find command.
#include "query/request/find_request.h"

#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

constexpr FieldRule kRules[] = {
    {"filter", fields::Object<&FindRequest::filter>},
    {"projection", fields::Object<&FindRequest::projection>},
    {"sort", fields::Object<&FindRequest::sort>},
    {"let", fields::Object<&FindRequest::let>},
    {"collation", fields::CollationObject<&FindRequest::collation>},
    {"hint", fields::Hint<&FindRequest::hint>},
    {"min", fields::Object<&FindRequest::min>},
    {"max", fields::Object<&FindRequest::max>},
    {"skip", fields::NonNegative<&FindRequest::skip>},
    {"limit", fields::NonNegative<&FindRequest::limit>},
    {"batchSize", fields::NonNegative<&FindRequest::batch_size>},
    {"singleBatch", fields::SafeBool<&FindRequest::single_batch>},
    {"returnKey", fields::SafeBool<&FindRequest::return_key>},
    {"showRecordId", fields::SafeBool<&FindRequest::show_record_id>},
    {"noCursorTimeout", fields::SafeBool<&FindRequest::no_cursor_timeout>},
    {"tailable", fields::SafeBool<&FindRequest::tailable>},
    {"awaitData", fields::SafeBool<&FindRequest::await_data>},
    {"allowPartialResults", fields::SafeBool<&FindRequest::allow_partial_results>},
    {"allowDiskUse", fields::SafeBool<&FindRequest::allow_disk_use>},
    {"oplogReplay"},
    {"querySettings"},
    {"includeQueryStatsMetrics"},
};

absl::Status CheckTogether(const FindRequest& request) {
  if (request.await_data && !request.tailable) {
    return Error(ErrorCode::kFailedToParse,
                 "Cannot set 'awaitData' without also setting 'tailable'");
  }
  if (request.tailable && request.single_batch) {
    return Error(ErrorCode::kFailedToParse,
                 "Cannot use tailable option with the 'singleBatch' option");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FindRequest> ParseFind(bson::View command) {
  FindRequest request;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "find", FieldScope::kCommand, kRules, &request));
  EVENKEEL_RETURN_IF_ERROR(CheckTogether(request));
  return request;
}

}  // namespace evenkeel::query
