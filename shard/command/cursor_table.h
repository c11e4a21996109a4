// The open cursors of one shard. A cursor is checked out while a command uses it.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <memory>
#include <vector>

#include "base/types.h"
#include "shard/command/read_cursor.h"

namespace evenkeel::shard {

// Any thread.
class CursorTable {
 public:
  // Keeps a cursor under a new id. Errors: ExceededMemoryLimit past limits::kCursorsMax.
  absl::StatusOr<CursorId> Add(std::unique_ptr<ReadCursor> cursor, absl::Time now);
  // Takes a cursor out for a command. Errors: CursorNotFound, CursorInUse.
  absl::StatusOr<std::unique_ptr<ReadCursor>> CheckOut(CursorId id);
  // Brings it back; drops it when it was killed meanwhile.
  void CheckIn(CursorId id, std::unique_ptr<ReadCursor> cursor, absl::Time now);
  // Forgets the id of a cursor that has ended while it was checked out.
  void Remove(CursorId id);
  // False: no such cursor.
  bool Kill(CursorId id);
  // Drops cursors that were idle since before `before`.
  size_t KillIdle(absl::Time before);
  size_t size() const;

 private:
  struct Slot {
    std::unique_ptr<ReadCursor> cursor;  // null while checked out
    absl::Time used;
    bool killed = false;
  };
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<CursorId, Slot> slots_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::shard
