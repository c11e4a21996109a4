// Exhaust: one request whose replies are streamed. Which commands may, and what the next virtual
// request is.
//
// Pure. Source: OP_MSG specification, "exhaustAllowed"; server discovery and monitoring
// specification, "streaming protocol".
#pragma once

#include "wire/protocol/request.h"

namespace evenkeel::wire {

// True for an awaitable hello and for getMore that allow it.
bool MayExhaust(const Request& request);

// True for a hello that waits until there is a newer topology version.
bool IsAwaitableHello(const Request& request);

// The request that stands for the client's next one after `reply`: the same, with the
// topologyVersion that the reply brought, so that an awaitable hello waits for a newer one.
Message NextExhaustRequest(const Message& request, bson::View reply);

}  // namespace evenkeel::wire
