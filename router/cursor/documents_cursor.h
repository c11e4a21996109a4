// A cursor over documents that the router holds in memory: listCollections, listIndexes and the
// like.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "router/cursor/client_cursor.h"

namespace evenkeel::router {

class DocumentsCursor final : public ClientCursor {
 public:
  DocumentsCursor(std::string ns, std::vector<bson::Document> rows)
      : ns_(std::move(ns)),
        rows_(std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end())) {}

  Awaitable<absl::StatusOr<bson::Document>> Next(BatchRequest request, CallScope scope) override;
  bool exhausted() const override { return rows_.empty(); }
  Awaitable<void> Close() override;

 private:
  std::string ns_;
  std::deque<bson::Document> rows_;
};

}  // namespace evenkeel::router
