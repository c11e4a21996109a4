// Holds the current view of a shard and makes the next one from it.
//
// Any thread reads; the log thread publishes batches, the writer new tables, the checkpoint thread
// what it has written and dropped. Each change is one swap of a pointer.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <memory>

#include "storage/read/view.h"

namespace evenkeel::storage {

class ViewPublisher {
 public:
  explicit ViewPublisher(std::shared_ptr<const View> first) : current_(std::move(first)) {}

  std::shared_ptr<const View> Current() const {
    absl::MutexLock lock(&pointer_mutex_);
    return current_;
  }

  // Recovery: LMDB holds everything up to `index`; the only table begins behind it.
  void StartAt(LogIndex index, Timestamp latest);
  void RaiseHistoryFloor(Timestamp floor);

  // Everything up to `index` is durable. `latest` below the current one is ignored, a null `state`
  // keeps the current one.
  void PublishBatches(LogIndex index, Timestamp latest,
                      std::shared_ptr<const PublishedState> state);
  // `table` takes the writes from now on.
  void AddTable(std::shared_ptr<MemTable> table);
  // `table` is in LMDB now: only history needs it.
  void MarkInLmdb(const MemTable* table);
  // Drops the oldest table, which must be in LMDB, and raises the history floor. Returns it, so
  // that the caller decides where its memory is freed.
  std::shared_ptr<MemTable> DropOldest(Timestamp history_floor);

 private:
  template <typename Change>
  void Publish(Change change);
  template <typename Change>
  void PublishTables(Change change);

  absl::Mutex change_mutex_;  // one change at a time
  mutable absl::Mutex pointer_mutex_ ABSL_ACQUIRED_AFTER(change_mutex_);
  std::shared_ptr<const View> current_ ABSL_GUARDED_BY(pointer_mutex_);
};

}  // namespace evenkeel::storage
