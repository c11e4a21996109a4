// What a ReadSlice holds: a view, the tables of its read, and an LMDB reader that fits them.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>

#include "storage/lmdb/checkpoint_store.h"
#include "storage/read/view.h"
#include "storage/read/view_publisher.h"
#include "storage/store.h"

namespace evenkeel::storage {

class ReadSlice::Impl {
 public:
  // The latest state, or the state at `timestamp`. View first, then LMDB; both again if the list of
  // tables has changed in between, because LMDB may then hold what a table outside the first list
  // has brought. Errors: SnapshotTooOld; OperationFailed when LMDB has no reader to give.
  static absl::StatusOr<ReadSlice> Make(const ViewPublisher& views, CheckpointStore* lmdb,
                                        std::optional<Timestamp> timestamp);

  Impl(std::shared_ptr<const View> view, std::unique_ptr<CheckpointReader> reader,
       std::optional<Timestamp> timestamp);

  std::optional<Record> Get(Table table, std::string_view key) const;
  std::unique_ptr<Cursor> NewCursor(Table table) const;

  const View& view() const { return *view_; }
  Timestamp timestamp() const { return timestamp_; }

 private:
  uint64_t BoundOf(Table table) const {
    return table == Table::kCounters ? view_->index.value : timestamp_.bits;
  }

  const std::shared_ptr<const View> view_;
  const std::unique_ptr<CheckpointReader> reader_;
  const Timestamp timestamp_;
  const ReadTables tables_;
};

}  // namespace evenkeel::storage
