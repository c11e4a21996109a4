// Collects what the statements of a write command did, and makes the reply.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/document.h"

namespace evenkeel::shard {

// Which statement failed, by its position in the request, and why.
using WriteErrors = std::vector<std::pair<size_t, absl::Status>>;

// Details and messages of errors past it are left out, so that a reply stays far below a message's
// limit.
inline constexpr size_t kWriteErrorBytesMax = 8u << 20;

// Appends {writeErrors: […]} when there are errors. Codes are internal ones too: the receiver is a
// router.
void AppendWriteErrors(bson::Builder& reply, const WriteErrors& errors);

class WriteReply {
 public:
  void AddMatched(int64_t matched, int64_t modified) {
    matched_ += matched;
    modified_ += modified;
  }
  void AddUpserted(size_t index, bson::OwnedValue id) {
    ++matched_;
    upserted_.emplace_back(index, std::move(id));
  }
  void AddError(size_t index, absl::Status status) {
    errors_.emplace_back(index, std::move(status));
  }
  void SetMissed() { missed_ = true; }

  // {n, nModified?, upserted?, writeErrors?, missed?}
  bson::Document ToBson(bool with_modified) const;

 private:
  int64_t matched_ = 0, modified_ = 0;
  bool missed_ = false;
  std::vector<std::pair<size_t, bson::OwnedValue>> upserted_;
  WriteErrors errors_;
};

}  // namespace evenkeel::shard
