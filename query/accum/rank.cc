// Accumulators with their own sort order, and functions of windows only. Known, not supported yet.
#include "query/accum/groups.h"

namespace evenkeel::query::accum {
namespace {

constexpr AccumOp kRows[] = {
    Unsupported("$bottom", AccumPlace::kBoth, "operator/aggregation/bottom", "accumulators/bottom"),
    Unsupported("$bottomN", AccumPlace::kBoth, "operator/aggregation/bottomN",
                "accumulators/bottomN"),
    Unsupported("$denseRank", AccumPlace::kWindow, "operator/aggregation/denseRank",
                "window/denseRank"),
    Unsupported("$derivative", AccumPlace::kWindow, "operator/aggregation/derivative",
                "window/derivative"),
    Unsupported("$documentNumber", AccumPlace::kWindow, "operator/aggregation/documentNumber",
                "window/documentNumber"),
    Unsupported("$expMovingAvg", AccumPlace::kWindow, "operator/aggregation/expMovingAvg",
                "window/expMovingAvg"),
    Unsupported("$integral", AccumPlace::kWindow, "operator/aggregation/integral",
                "window/integral"),
    Unsupported("$linearFill", AccumPlace::kWindow, "operator/aggregation/linearFill",
                "window/linearFill"),
    Unsupported("$locf", AccumPlace::kWindow, "operator/aggregation/locf", "window/locf"),
    Unsupported("$minMaxScaler", AccumPlace::kWindow, "operator/aggregation/minMaxScaler",
                "window/minMaxScaler"),
    Unsupported("$rank", AccumPlace::kWindow, "operator/aggregation/rank", "window/rank"),
    Unsupported("$shift", AccumPlace::kWindow, "operator/aggregation/shift", "window/shift"),
    Unsupported("$top", AccumPlace::kBoth, "operator/aggregation/top", "accumulators/top"),
    Unsupported("$topN", AccumPlace::kBoth, "operator/aggregation/topN", "accumulators/topN"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> RankOps() { return kRows; }

}  // namespace evenkeel::query::accum
