// The table of all pipeline stages.
#pragma once

#include <span>
#include <string_view>

#include "query/stage/stage.h"

namespace evenkeel::query::stage {

// The row of a stage ("$match"), null for an unknown name.
const StageOp* FindStage(std::string_view name);
// Every row, sorted by name.
std::span<const StageOp* const> AllStages();

}  // namespace evenkeel::query::stage
