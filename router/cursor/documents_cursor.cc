// Batches out of memory.
#include "router/cursor/documents_cursor.h"

namespace evenkeel::router {

Awaitable<absl::StatusOr<bson::Document>> DocumentsCursor::Next(BatchRequest request, CallScope) {
  BatchBuilder batch(request);
  while (!rows_.empty() && !batch.full() && batch.Add(rows_.front())) rows_.pop_front();
  co_return batch.Finish(rows_.empty(), ns_);
}

Awaitable<void> DocumentsCursor::Close() {
  rows_.clear();
  co_return;
}

}  // namespace evenkeel::router
