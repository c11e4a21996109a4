// A cursor of a read with readConcern snapshot: all its batches come from one state of the cluster.
#pragma once

#include <memory>
#include <utility>

#include "router/cursor/client_cursor.h"
#include "router/transaction/transaction.h"

namespace evenkeel::router {

// Passes on another cursor, whose requests it makes at the snapshot.
class SnapshotCursor final : public ClientCursor {
 public:
  SnapshotCursor(RouterState& router, std::unique_ptr<ClientCursor> cursor,
                 std::shared_ptr<ClientTransaction> snapshot)
      : router_(router), cursor_(std::move(cursor)), snapshot_(std::move(snapshot)) {}

  Awaitable<absl::StatusOr<bson::Document>> Next(BatchRequest request, CallScope scope) override;
  bool exhausted() const override { return cursor_->exhausted(); }
  Awaitable<void> Close() override;

 private:
  RouterState& router_;
  const std::unique_ptr<ClientCursor> cursor_;
  const std::shared_ptr<ClientTransaction> snapshot_;
};

}  // namespace evenkeel::router
