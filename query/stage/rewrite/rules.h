// The rewrites of pipelines, one file each. All keep the result; query/stage/optimize.cc says in
// which order they are applied.
#pragma once

#include <string_view>

#include "query/stage/stage.h"

namespace evenkeel::query::stage {

// Adds to each $match with {$expr: {$eq: ["$path", constant]}} (or $in) the plain comparison that
// follows from it, which can choose shards and indexes.
void AddPlainComparisons(StageList& stages, const QueryContext& context);

// Moves each $match, or the conditions of it that may, in front of the stages that change nothing
// that it looks at.
void MoveMatches(StageList& stages, const QueryContext& context);

// Joins neighbouring $match stages.
void JoinMatches(StageList& stages, const QueryContext& context);

// Replaces $sort before a $group whose only use of the order is $first, $last and their forms with
// n by $top, $bottom and so on.
void SortInGroups(StageList& stages, const QueryContext& context);

// Lets a $lookup give one row per found document where an $unwind of them follows.
void JoinUnwinds(StageList& stages);

// Puts a $project of the fields that matter in front of stages that keep, send or copy rows.
void NarrowRows(StageList& stages, const QueryContext& context);

// Parses {name: spec} into one stage; null when it cannot be parsed, such as a filter that has
// become too deep.
std::unique_ptr<Stage> MakeStage(std::string_view name, bson::View spec,
                                 const QueryContext& context);

}  // namespace evenkeel::query::stage
