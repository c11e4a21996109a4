// The reply to clusterMoves as a table.
#pragma once

#include <string>

#include "base/bson/view.h"

namespace evenkeel::cli {

// One line for each move; "no moves" where there are none.
std::string MovesTable(bson::View moves);

}  // namespace evenkeel::cli
