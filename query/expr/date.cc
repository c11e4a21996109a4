// Dates and time zones. Known, not supported yet.
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

constexpr ExprOp kRows[] = {
    Unsupported("$dateAdd", "operator/aggregation/dateAdd", "expressions/date/dateAdd"),
    Unsupported("$dateDiff", "operator/aggregation/dateDiff", "expressions/date/dateDiff"),
    Unsupported("$dateFromParts", "operator/aggregation/dateFromParts",
                "expressions/date/dateFromParts"),
    Unsupported("$dateFromString", "operator/aggregation/dateFromString",
                "expressions/date/dateFromString"),
    Unsupported("$dateSubtract", "operator/aggregation/dateSubtract",
                "expressions/date/dateSubtract"),
    Unsupported("$dateToParts", "operator/aggregation/dateToParts", "expressions/date/dateToParts"),
    Unsupported("$dateToString", "operator/aggregation/dateToString",
                "expressions/date/dateToString"),
    Unsupported("$dateTrunc", "operator/aggregation/dateTrunc", "expressions/date/dateTrunc"),
    Unsupported("$dayOfMonth", "operator/aggregation/dayOfMonth", "expressions/date/dayOfMonth"),
    Unsupported("$dayOfWeek", "operator/aggregation/dayOfWeek", "expressions/date/dayOfWeek"),
    Unsupported("$dayOfYear", "operator/aggregation/dayOfYear", "expressions/date/dayOfYear"),
    Unsupported("$hour", "operator/aggregation/hour", "expressions/date/hour"),
    Unsupported("$isoDayOfWeek", "operator/aggregation/isoDayOfWeek",
                "expressions/date/isoDayOfWeek"),
    Unsupported("$isoWeek", "operator/aggregation/isoWeek", "expressions/date/isoWeek"),
    Unsupported("$isoWeekYear", "operator/aggregation/isoWeekYear", "expressions/date/isoWeekYear"),
    Unsupported("$millisecond", "operator/aggregation/millisecond", "expressions/date/millisecond"),
    Unsupported("$minute", "operator/aggregation/minute", "expressions/date/minute"),
    Unsupported("$month", "operator/aggregation/month", "expressions/date/month"),
    Unsupported("$second", "operator/aggregation/second", "expressions/date/second"),
    Unsupported("$week", "operator/aggregation/week", "expressions/date/week"),
    Unsupported("$year", "operator/aggregation/year", "expressions/date/year"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> DateOps() { return kRows; }

}  // namespace evenkeel::query::expr
