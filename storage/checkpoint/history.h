// Open snapshots, and how long tables that are in LMDB are kept for them.
//
// Kept: as long as an open snapshot needs them, else up to an age, always within a bound of bytes;
// past it the oldest snapshots end. Any thread opens snapshots; the checkpoint thread trims.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <memory>
#include <set>
#include <vector>

#include "storage/read/view_publisher.h"
#include "storage/store.h"

namespace evenkeel::storage {

class History : public std::enable_shared_from_this<History> {
 public:
  // `views` must live as long as snapshots are opened and trims are done.
  History(ViewPublisher* views, size_t bytes_max, absl::Duration age_max)
      : views_(views), bytes_max_(bytes_max), age_max_(age_max) {}

  // Errors: SnapshotTooOld.
  absl::StatusOr<std::unique_ptr<Snapshot>> Open(Timestamp timestamp);
  // The lowest timestamp of an open snapshot; the highest possible when there is none.
  Timestamp LowestOpen() const;

  // Drops what need not be kept at `now`. Checkpoint thread.
  void Trim(absl::Time now);
  // `table` has reached LMDB at `now`: its age as history begins. Checkpoint thread.
  void AddTable(const MemTable* table, absl::Time now) { since_.push_back({table, now}); }
  // Memory of the tables kept.
  size_t HeldBytes() const;

 private:
  friend class OpenSnapshot;
  struct Since {
    const MemTable* table;
    absl::Time time;
  };

  void Release(Timestamp timestamp);
  bool MayDrop(const TableList& list, absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ViewPublisher* const views_;
  const size_t bytes_max_;
  const absl::Duration age_max_;
  mutable absl::Mutex mutex_;
  std::multiset<Timestamp> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<Since> since_;  // the checkpoint thread's; oldest first
  std::vector<std::shared_ptr<MemTable>>
      dropped_;  // freed here once no reader uses them: not on a reader's thread
};

}  // namespace evenkeel::storage
