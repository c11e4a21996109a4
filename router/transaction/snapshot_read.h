// Reads with readConcern snapshot outside transactions.
#pragma once

#include "router/command.h"

namespace evenkeel::router {

// True for a command that reads at one timestamp on all shards without being part of a transaction.
bool ReadsAtSnapshot(const wire::Request& request);

// Runs it at readConcern.atClusterTime, or at a timestamp that sees everything its client has seen.
// The reply says which: cursor.atClusterTime, or atClusterTime without a cursor. The shards keep
// the snapshot as long as the cursor lives.
Awaitable<CommandResult> RunAtSnapshot(CommandContext& context, CommandHandler handler);

}  // namespace evenkeel::router
