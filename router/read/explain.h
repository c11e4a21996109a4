// How a command would be carried out: the shards it goes to, and what each of them says of its
// plan.
#pragma once

#include <string>

#include "router/command.h"

namespace evenkeel::router::read {

// Explains `command`, whose first field names it. `verbosity` is one of MongoDB's three.
Awaitable<CommandResult> Explain(CommandContext& context, bson::View command,
                                 std::string verbosity);

}  // namespace evenkeel::router::read
