// `evenkeel moves`: asks a router how far moves of collections are and shows it.
#pragma once

#include "cli/ask_router.h"

namespace evenkeel::cli {

struct MovesOptions {
  RouterChoice router;
  bool json = false;
  bool watch = false;  // again every second, until there are none
};

// Prints the moves. Returns the exit code: 0 all goes well, 1 the router of a move is silent, 2
// nobody could be asked.
int ShowMoves(const MovesOptions& options);

}  // namespace evenkeel::cli
