// Reads of other collections for the operators of one cursor, as ordinary routed aggregations.
#pragma once

#include <memory>
#include <string>

#include "base/bson/document.h"
#include "query/exec/foreign.h"
#include "router/cursor/foreign_server.h"

namespace evenkeel::router::read {

// `times` are those of the command. `depth`: how many pipelines the reads are within; `collation`
// is theirs, too.
std::unique_ptr<ForeignServer> MakeForeignServer(RouterState& router,
                                                 const wire::CommandTimes& times,
                                                 std::shared_ptr<query::ForeignReads> reads,
                                                 bson::Document collation, int depth);

}  // namespace evenkeel::router::read
