// Stages that are known and not supported yet, with the facts that are true of them already.
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

// A stage over its input that needs everything in one place.
constexpr StageOp Whole(std::string_view name, std::string_view spec, std::string_view tests) {
  return {.name = name,
          .order = Order::kBreaks,
          .bounded_memory = false,
          .split = Split::kMerger,
          .spec = spec,
          .tests = tests};
}

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

constexpr StageOp Writer(std::string_view name, std::string_view spec, std::string_view tests) {
  return {.name = name,
          .writes = true,
          .allowed_in_txn = false,
          .last_only = true,
          .allowed_in_facet = false,
          .spec = spec,
          .tests = tests};
}

constexpr StageOp kRows[] = {
    First("$changeStream", "operator/aggregation/changeStream", "none"),
    ByRow("$changeStreamSplitLargeEvent", "operator/aggregation/changeStreamSplitLargeEvent",
          "none"),
    First("$geoNear", "operator/aggregation/geoNear", "stages/geoNear"),
    ByRow("$graphLookup", "operator/aggregation/graphLookup", "stages/graphLookup"),
    First("$indexStats", "operator/aggregation/indexStats", "stages/indexStats"),
    First("$listLocalSessions", "operator/aggregation/listLocalSessions",
          "system-stages/listLocalSessions"),
    First("$listSampledQueries", "operator/aggregation/listSampledQueries", "none"),
    First("$listSearchIndexes", "operator/aggregation/listSearchIndexes", "none"),
    First("$listSessions", "operator/aggregation/listSessions", "system-stages/listSessions"),
    ByRow("$lookup", "operator/aggregation/lookup", "stages/lookup"),
    Writer("$merge", "operator/aggregation/merge", "stages/merge"),
    Writer("$out", "operator/aggregation/out", "stages/out"),
    First("$planCacheStats", "operator/aggregation/planCacheStats", "stages/planCacheStats"),
    First("$querySettings", "operator/aggregation/querySettings", "stages/querySettings"),
    First("$queryStats", "operator/aggregation/queryStats", "stages/queryStats"),
    First("$rankFusion", "operator/aggregation/rankFusion", "stages/rankFusion"),
    ByRow("$score", "operator/aggregation/score", "stages/score"),
    First("$scoreFusion", "operator/aggregation/scoreFusion", "stages/scoreFusion"),
    First("$search", "atlas-search/aggregation-stages/search", "none"),
    First("$searchMeta", "atlas-search/aggregation-stages/searchMeta", "none"),
    Whole("$unionWith", "operator/aggregation/unionWith", "stages/unionWith"),
    First("$vectorSearch", "atlas-vector-search/vector-search-stage", "none"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> UnsupportedStages() { return kRows; }

}  // namespace evenkeel::query::stage
