// Conversions between types. Known, not supported yet.
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

constexpr ExprOp kRows[] = {
    Unsupported("$convert", "operator/aggregation/convert", "expressions/type/convert"),
    Unsupported("$deserializeEJSON", "operator/aggregation/deserializeEJSON", "expressions/type"),
    Unsupported("$serializeEJSON", "operator/aggregation/serializeEJSON", "expressions/type"),
    Unsupported("$toArray", "operator/aggregation/toArray", "expressions/type"),
    Unsupported("$toBool", "operator/aggregation/toBool", "expressions/type/toBool"),
    Unsupported("$toDate", "operator/aggregation/toDate", "expressions/type/toDate"),
    Unsupported("$toDecimal", "operator/aggregation/toDecimal", "expressions/type/toDecimal"),
    Unsupported("$toDouble", "operator/aggregation/toDouble", "expressions/type/toDouble"),
    Unsupported("$toInt", "operator/aggregation/toInt", "expressions/type/toInt"),
    Unsupported("$toLong", "operator/aggregation/toLong", "expressions/type/toLong"),
    Unsupported("$toObject", "operator/aggregation/toObject", "expressions/type"),
    Unsupported("$toObjectId", "operator/aggregation/toObjectId", "expressions/type/toObjectId"),
    Unsupported("$toString", "operator/aggregation/toString", "expressions/string/toString"),
    Unsupported("$toUUID", "operator/aggregation/toUUID", "expressions/type/toUUID"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ConvertOps() { return kRows; }

}  // namespace evenkeel::query::expr
