// Leads {$meta: …} to the stage that makes the metadata: scoring stages, a $sort, or the scan.
//
// A pipeline that reads metadata is rewritten before it is parsed: it is made and kept in hidden
// fields of the rows (query/expr/meta.h), {$meta: …} becomes a path to those, and an $unset behind
// the last reader takes them away. Everything in between treats them as fields; a stage that makes
// new documents loses them.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string_view>

#include "base/bson/document.h"

namespace evenkeel::query::stage {

// The option of a scoring stage that keeps the scores, true or missing.
inline constexpr std::string_view kKeepScoreOption = "\x01keep";
// Stages that make record ids and index keys, and the sort keys of the $sort before.
inline constexpr std::string_view kRowMetaStage = "$_rowMeta";
inline constexpr std::string_view kSortMetaStage = "$_sortMeta";

// The pipeline's array rewritten; nothing when no stage of it reads what another makes, or a stage
// is one of those that only routers make. Errors: 40218 for details that the scoring stage does not
// make.
absl::StatusOr<std::optional<bson::Document>> LinkMeta(bson::View stages);

// True for $rankFusion, $score and $scoreFusion.
bool MakesScores(std::string_view stage);

}  // namespace evenkeel::query::stage
