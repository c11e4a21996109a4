// What a client's cursor id stands for: something that gives the next batch.
//
// Kinds: one shard's cursor passed through (forward_cursor.h), several merged (merge_cursor.h),
// documents in memory (documents_cursor.h). A cursor is used by one command at a time; the table
// sees to it.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bson/builder.h"
#include "base/types.h"
#include "query/context.h"
#include "router/command.h"

namespace evenkeel::router {

// Asked of a cursor for one reply.
struct BatchRequest {
  std::optional<int64_t> rows;  // at most; nothing: as many as fit
  bool first = false;           // "firstBatch" instead of "nextBatch"
  CursorId id;                  // what the reply says when the cursor goes on
};

class ClientCursor {
 public:
  virtual ~ClientCursor() = default;
  // The reply {cursor: {firstBatch or nextBatch, id, ns}}; id is 0 when nothing more will come.
  // Errors end the cursor: it may only be closed then.
  virtual Awaitable<absl::StatusOr<bson::Document>> Next(BatchRequest request, CallScope scope) = 0;
  // True when nothing more will come and no shard holds anything for this cursor.
  virtual bool exhausted() const = 0;
  // Ends the cursors at the shards. Failures do not matter: shards drop idle cursors by themselves.
  virtual Awaitable<void> Close() = 0;
};

// Rows of a first batch when the client names no size, as in MongoDB.
inline constexpr int64_t kFirstBatchRows = 101;

// Builds {cursor: {firstBatch: [rows], id, ns}} within the bounds of one batch.
class BatchBuilder {
 public:
  explicit BatchBuilder(const BatchRequest& request);
  BatchBuilder(const BatchBuilder&) = delete;
  BatchBuilder& operator=(const BatchBuilder&) = delete;
  // True when no more rows are wanted.
  bool full() const { return request_.rows && rows_ >= *request_.rows; }
  // False when the row does not fit any more; the first one always fits.
  bool Add(bson::View row);
  bson::Document Finish(bool exhausted, std::string_view ns);

 private:
  BatchRequest request_;
  bson::Builder builder_;
  bson::ArrayAppender array_;
  int64_t rows_ = 0;
};

// A shard's reply with a cursor as the client gets it: other fields dropped, the cursor's id
// replaced unless it is 0. Errors: InternalError for a reply without cursor.
absl::StatusOr<bson::Document> PassedOnReply(bson::View reply, CursorId id);

// The cursor of a reply. Errors: InternalError for a malformed one.
struct CursorView {
  int64_t id = 0;
  bson::View batch;  // an array
};
absl::StatusOr<CursorView> ReadCursor(bson::View reply);

}  // namespace evenkeel::router
