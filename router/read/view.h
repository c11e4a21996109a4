// Reads on views, rewritten to pipelines on what the view is defined on.
#pragma once

#include "query/request/count_request.h"
#include "query/request/distinct_request.h"
#include "query/request/find_request.h"
#include "router/command.h"
#include "router/retry.h"

namespace evenkeel::router::read {

Awaitable<CommandResult> FindOnView(CommandContext& context, RoutePtr route,
                                    const query::FindRequest& find);
Awaitable<CommandResult> CountOnView(CommandContext& context, RoutePtr route,
                                     const query::CountRequest& count);
Awaitable<CommandResult> DistinctOnView(CommandContext& context, RoutePtr route,
                                        const query::DistinctRequest& distinct);

}  // namespace evenkeel::router::read
