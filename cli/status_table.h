// The reply to clusterStatus as tables.
#pragma once

#include <string>

#include "base/bson/view.h"

namespace evenkeel::cli {

std::string StatusTables(bson::View status);

}  // namespace evenkeel::cli
