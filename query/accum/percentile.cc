// $median, $percentile. Known, not supported yet.
#include "query/accum/groups.h"

namespace evenkeel::query::accum {
namespace {

constexpr AccumOp kRows[] = {
    Unsupported("$median", AccumPlace::kBoth, "operator/aggregation/median", "accumulators/median"),
    Unsupported("$percentile", AccumPlace::kBoth, "operator/aggregation/percentile",
                "accumulators/percentile"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> PercentileOps() { return kRows; }

}  // namespace evenkeel::query::accum
