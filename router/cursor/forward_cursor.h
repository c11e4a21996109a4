// One shard's cursor, passed through: replies go to the client without being taken apart.
#pragma once

#include <utility>

#include "router/cursor/client_cursor.h"
#include "router/cursor/shard_cursor.h"

namespace evenkeel::router {

class ForwardCursor final : public ClientCursor {
 public:
  // `cluster` outlives the cursor.
  ForwardCursor(Cluster& cluster, ShardCursor at) : cluster_(cluster), at_(std::move(at)) {}

  Awaitable<absl::StatusOr<bson::Document>> Next(BatchRequest request, CallScope scope) override;
  bool exhausted() const override { return at_.id == 0; }
  Awaitable<void> Close() override;

 private:
  Cluster& cluster_;
  ShardCursor at_;
};

}  // namespace evenkeel::router
