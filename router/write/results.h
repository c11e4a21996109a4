// The reply of insert, update and delete while it comes together: counts, upserted ids, errors by
// the client's index.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <optional>

#include "base/bson/document.h"
#include "wire/protocol/request.h"

namespace evenkeel::router::write {

class WriteResults {
 public:
  void AddCounts(int64_t n, int64_t modified) {
    n_ += n;
    modified_ += modified;
  }
  void AddUpserted(int32_t index, bson::Value id) { upserted_[index] = bson::OwnedValue(id); }
  void AddError(int32_t index, const absl::Status& status);
  // An entry of a shard's writeErrors, whose own index is replaced.
  void AddErrorEntry(int32_t index, bson::View entry);
  // Adds the counts of a shard's reply: n and, where there is one, nModified.
  void AddReplyCounts(bson::View reply);

  // The error of one statement, OK if it has none.
  absl::Status ErrorOf(int32_t index) const;
  bool has_errors() const { return !errors_.empty(); }
  // True when the reply says that something was done.
  bool changed_anything() const { return n_ > 0 || !upserted_.empty(); }
  int64_t n() const { return n_; }

  // {n, nModified?, upserted?, writeErrors?, writeConcernError?}.
  bson::Document Reply(bool with_modified, const wire::WriteConcern& concern) const;

 private:
  int64_t n_ = 0, modified_ = 0;
  std::map<int32_t, bson::OwnedValue> upserted_;
  std::map<int32_t, bson::Document> errors_;  // without their index
};

// The first of a reply's writeErrors as a status, OK if there is none.
absl::Status FirstWriteError(bson::View reply);

// What keeps a write concern from being satisfied, as the value of writeConcernError: every shard
// is one member so far. Nothing for the ones that hold.
std::optional<bson::Document> WriteConcernError(const wire::WriteConcern& concern);

}  // namespace evenkeel::router::write
