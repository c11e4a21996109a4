// Aggregations that end in $out or $merge: their results are written, not returned.
#pragma once

#include "router/read/aggregate.h"

namespace evenkeel::router::read {

// Runs the pipeline without its last stage and writes its rows as that stage says, batch by batch,
// through the ordinary routed writes.
//
// $out fills a new collection with the target's indexes and renames it over the target: others see
// the old documents or the new ones. $merge writes row by row; what was written before an error
// stays.
//
// Returns  an empty cursor. Errors: those of the pipeline and of the writes; 166 for a view as
//          target, 13113 for a row without a match under whenNotMatched: "fail".
Awaitable<CommandResult> AggregateInto(CommandContext& context, AggregateCall call);

}  // namespace evenkeel::router::read
