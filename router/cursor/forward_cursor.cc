// Forwards getMore.
#include "router/cursor/forward_cursor.h"

#include "base/status.h"
#include "router/retry.h"

namespace evenkeel::router {

Awaitable<absl::StatusOr<bson::Document>> ForwardCursor::Next(BatchRequest request,
                                                              CallScope scope) {
  ShardCall call = GetMoreCall(at_, request.rows);
  const auto reply = co_await cluster_.Send(std::move(call), std::move(scope));
  if (!reply.ok()) co_return EndOfCursor(reply.status());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const CursorView cursor, ReadCursor(reply->body));
  at_.id = cursor.id;
  co_return PassedOnReply(reply->body, request.id);
}

Awaitable<void> ForwardCursor::Close() {
  std::vector<ShardCursor> cursors{at_};
  at_.id = 0;
  co_await KillShardCursors(cluster_, std::move(cursors));
}

}  // namespace evenkeel::router
