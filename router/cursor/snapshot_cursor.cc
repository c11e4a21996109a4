// Reads on at a snapshot, and lets go of it.
#include "router/cursor/snapshot_cursor.h"

#include "router/transaction/commit.h"

namespace evenkeel::router {

Awaitable<absl::StatusOr<bson::Document>> SnapshotCursor::Next(BatchRequest request,
                                                               CallScope scope) {
  scope.transaction = snapshot_;
  co_return co_await cursor_->Next(request, std::move(scope));
}

Awaitable<void> SnapshotCursor::Close() {
  co_await cursor_->Close();
  co_await AbortTransaction(router_, snapshot_);
  co_return;
}

}  // namespace evenkeel::router
