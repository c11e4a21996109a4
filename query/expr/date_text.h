// Reads dates from texts without a format.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "query/expr/date_fields.h"

namespace evenkeel::query::expr {

// Reads ISO 8601 and the other common forms: "2018-03-20T12:00:00.5+01:00", "20180320", "2018-079",
// "2018-W12-2", "3/20/2018", "20-03-2018", "March 20, 2018 3:05 pm", "20 Mar 2018 UTC". Blanks,
// commas and a day of the week may stand between the parts. Errors: ConversionFailure (241).
// Source: "$dateFromString" and "$toDate" in the manual.
absl::StatusOr<DateFields> ReadDateText(std::string_view text);

}  // namespace evenkeel::query::expr
