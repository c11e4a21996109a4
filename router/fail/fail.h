// Where commands meet the fail points that concern them, and the command that sets these.
#pragma once

#include "router/command.h"
#include "wire/protocol/request.h"

namespace evenkeel::router::fail {

class CommandFailPoint;

// Passes a fail point: blocks and fails as it says. What it says for later is left in
// `context.failure`.
//
// Errors   the fail point's own code; MaxTimeMSExpired and Interrupted while it blocks.
Awaitable<absl::Status> Pass(CommandFailPoint& point, CommandContext& context);

// Adds what a fail point wants in the reply of a command that was carried out: writeConcernError,
// for commands that take a write concern, with its labels.
bson::Document WithWriteConcernError(bson::Document reply, const CommandContext& context);

// configureFailPoint: {configureFailPoint: name, mode, data} → {count}, how often it was hit
// before.
//
// failCommand and failGetMoreAfterCursorCheckout act on this router. Every other name is a row of
// base/fail_points.inc, set in this process and on all shards, or, with data {shard: id}, on one.
// data {action: "pause"} or {action: "crash"} waits there or ends the process. Docs:
// docs/testing.md. Errors: 266 for an unknown name, and those of ParseMode and CommandRule::Parse.
Awaitable<CommandResult> ConfigureFailPointCommand(CommandContext& context);

}  // namespace evenkeel::router::fail
