// What this router is doing: the rows of $currentOp and of the command currentOp.
#pragma once

#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "router/command.h"

namespace evenkeel::router::local {

// Which rows there are beside those of operations under way, as in $currentOp.
struct CurrentOpOptions {
  bool idle_connections = false;
  bool idle_cursors = false;
  bool idle_sessions = true;  // that have a transaction open
  bool truncate = false;      // long commands are shown as text
};

// One document per operation under way, idle session with a transaction, idle cursor, idle
// connection and move of a collection; moves of other routers too, some seconds old. Source:
// "$currentOp (aggregation)", Output Fields.
std::vector<bson::Document> CurrentOperations(const CommandContext& context,
                                              const CurrentOpOptions& options);

// What an lsid has as `uid` where nobody has logged in: the SHA-256 of an empty name.
std::string_view NobodysDigest();

}  // namespace evenkeel::router::local
