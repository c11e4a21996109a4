// A move of a collection as currentOp shows it.
#pragma once

#include <string_view>

#include "base/bson/document.h"

namespace evenkeel::router::local {

// move  a row of ddl::MoveProgress
// host  "host:port" of the router that runs it
// As MongoDB shows the receiving shard of a resharding. Source: "$currentOp (aggregation)", Output
// Fields of resharding operations.
bson::Document MoveOperationRow(bson::View move, std::string_view host);

}  // namespace evenkeel::router::local
