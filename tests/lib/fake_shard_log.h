// A shard's log in memory, for tests of the engine: commits on a thread of its own or when the test
// says so, loses what is not committed, runs out of space on demand.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <deque>

#include "base/thread.h"
#include "storage/log/log.h"

namespace evenkeel::tests {

class FakeShardLog final : public storage::ShardLog {
 public:
  FakeShardLog();
  ~FakeShardLog() override;

  // While held, nothing becomes committed but by CommitUpTo.
  void Hold(bool hold);
  // Commits in the calling thread. Returns when the listener has returned.
  void CommitUpTo(LogIndex index);
  // Waits until everything appended is committed and the listener has returned. Requires that it is
  // not held.
  void WaitUntilIdle();
  // Waits until an entry behind `index` is appended, committed or not.
  void WaitForMoreThan(LogIndex index);
  // Power loss: entries that are not committed are gone. The store must be closed.
  void DropUncommitted();
  // Reserve fails for more than `bytes`; so does ReserveEssential, or not.
  void SetSpace(size_t bytes);
  void SetSpaceButForEssential(size_t bytes);
  void SetHeldBackBytes(uint64_t bytes);

  LogIndex last();
  std::vector<storage::LogEntry> entries();

  void SetCommittedListener(CommittedListener listener) override;
  absl::Status Reserve(size_t bytes) override;
  absl::Status ReserveEssential(size_t bytes) override;
  void Append(storage::LogEntry entry) override;
  LogIndex committed() const override;
  LogIndex first_index() const override;
  absl::StatusOr<std::vector<storage::LogEntry>> Read(LogIndex from, size_t bytes_max) override;
  absl::Status CutSuffix(LogIndex from) override;
  void Forget(LogIndex last) override;
  uint64_t HeldBackBytes() const override;

 private:
  void Run();
  LogIndex LastLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex notify_mutex_;  // one call of the listener at a time
  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(notify_mutex_);
  CommittedListener listener_ ABSL_GUARDED_BY(mutex_);
  std::deque<storage::LogEntry> entries_ ABSL_GUARDED_BY(mutex_);
  LogIndex first_ ABSL_GUARDED_BY(mutex_){1};
  LogIndex committed_ ABSL_GUARDED_BY(mutex_);
  LogIndex told_ ABSL_GUARDED_BY(mutex_);
  size_t space_ ABSL_GUARDED_BY(mutex_) = ~size_t{0};
  bool essential_has_space_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t held_back_ ABSL_GUARDED_BY(mutex_) = 0;
  bool hold_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  base::Thread thread_;
};

}  // namespace evenkeel::tests
