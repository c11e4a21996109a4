// What a command has examined, for the log: on the shard, and in its reply for the router.
#pragma once

#include <cstdint>
#include <string>

#include "base/bson/builder.h"
#include "query/plan/planner.h"
#include "shard/command/command.h"

namespace evenkeel::shard {

class ReadCursor;

// "COLLSCAN", "IXSCAN { a: 1, b: -1 }", "IDHACK", "EOF". Source: the manual, "planSummary".
std::string PlanSummary(const query::Plan& plan);

// Notes what `cursor` did, if the command has taken long enough that it may be logged.
void NoteFigures(CommandContext& context, const ReadCursor& cursor);
// Appends what was noted to the reply, as `$stats`.
void AppendFigures(const CommandContext& context, bson::Builder* reply);

// Logs the command if it took longer than slowms.
void LogIfSlow(const CommandContext& context, bson::View reply, absl::Duration took);

}  // namespace evenkeel::shard
