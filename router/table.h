// The handlers of the router's commands, one per supported row of wire/protocol/commands.inc.
#pragma once

#include "router/command.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router {

// The handler of a row; null for rows that are unsupported or internal.
CommandHandler FindHandler(const wire::CommandFacts& facts);

}  // namespace evenkeel::router
