// Stages that are known and not supported yet, with the facts that are true of them already.
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

// A stage that works row by row.
constexpr StageOp ByRow(std::string_view name, std::string_view spec, std::string_view tests) {
  return {.name = name, .spec = spec, .tests = tests};
}

// A stage that makes its own documents and is not allowed in transactions.
constexpr StageOp First(std::string_view name, std::string_view spec, std::string_view tests) {
  return {.name = name,
          .allowed_in_txn = false,
          .first_only = true,
          .allowed_in_facet = false,
          .source = Source::kDriver,
          .spec = spec,
          .tests = tests};
}

constexpr StageOp kRows[] = {
    First("$changeStream", "operator/aggregation/changeStream", "none"),
    ByRow("$changeStreamSplitLargeEvent", "operator/aggregation/changeStreamSplitLargeEvent",
          "none"),
    First("$geoNear", "operator/aggregation/geoNear", "stages/geoNear"),
    First("$indexStats", "operator/aggregation/indexStats", "stages/indexStats"),
    First("$listSampledQueries", "operator/aggregation/listSampledQueries", "none"),
    First("$listSearchIndexes", "operator/aggregation/listSearchIndexes", "none"),
    First("$planCacheStats", "operator/aggregation/planCacheStats", "stages/planCacheStats"),
    First("$search", "atlas-search/aggregation-stages/search", "none"),
    First("$searchMeta", "atlas-search/aggregation-stages/searchMeta", "none"),
    First("$vectorSearch", "atlas-vector-search/vector-search-stage", "none"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> UnsupportedStages() { return kRows; }

}  // namespace evenkeel::query::stage
