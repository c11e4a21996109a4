// Leads {$meta: "score"} and {$meta: "scoreDetails"} to the stage that makes the scores.
//
// A pipeline that reads scores is rewritten before it is parsed: the scoring stage is told to keep
// them in hidden fields of its rows, {$meta: …} becomes a path to those, and an $unset behind the
// last reader takes them away. Everything in between treats them as fields.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string_view>

#include "base/bson/document.h"

namespace evenkeel::query::stage {

// The option of a scoring stage that keeps the scores, true or missing.
inline constexpr std::string_view kKeepScoreOption = "\x01keep";

// The pipeline's array rewritten; nothing when no stage of it reads scores that another makes.
// Errors: 40218 for details that the scoring stage does not make.
absl::StatusOr<std::optional<bson::Document>> LinkScores(bson::View stages);

// True for $rankFusion, $score and $scoreFusion.
bool MakesScores(std::string_view stage);

}  // namespace evenkeel::query::stage
