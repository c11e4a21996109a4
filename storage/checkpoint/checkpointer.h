// The checkpoint thread of a shard: brings frozen tables to LMDB, trims history, removes dead
// ranges, compacts, and asks the writer to freeze what is old or holds back the log.
//
// Any thread asks and waits; all work is done by the one thread.
//
// Invariants
//   I1  A table is written only when its last batch is durable, and tables are written in order.
//   I2  The log is told to forget only what the committed position covers.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread.h"
#include "storage/checkpoint/engine_state.h"
#include "storage/checkpoint/history.h"
#include "storage/checkpoint/pacer.h"
#include "storage/checkpoint/table_flush.h"
#include "storage/disk_reserve.h"
#include "storage/log/log.h"
#include "storage/read/view_publisher.h"
#include "storage/store.h"

namespace evenkeel::storage {

class Checkpointer {
 public:
  // All outlive it.
  struct Parts {
    const StoreOptions* options;
    ShardLog* log;
    CheckpointStore* lmdb;
    ViewPublisher* views;
    History* history;
    DiskReserve* reserve;
  };

  Checkpointer(Parts parts, EngineState state);
  ~Checkpointer() { Stop(); }

  void Start();
  // Ends the thread soon, without finishing; waiting calls fail.
  void Stop();

  // From now on old tables are frozen: `active_since` says since when the active table holds
  // something, `freeze` asks the writer.
  void WatchActive(std::function<absl::Time()> active_since, std::function<void()> freeze);
  // A table was frozen. Any thread.
  void Notify();
  // Batches were published: a frozen table may have become durable. Any thread, cheap.
  void Published() {
    if (waits_for_batch_.load()) Notify();
  }

  // Waits until every batch up to `index`, which is frozen, is in LMDB, without pacing.
  // Errors: why the last attempt failed; ShutdownInProgress.
  absl::Status WaitFor(LogIndex index);
  // Waits until no dead range is left that LMDB knows of. Errors as above.
  absl::Status FinishRemovals();
  // Removes what can be removed, then compacts. Errors: those of the store; ShutdownInProgress.
  absl::Status Compact();

  // Bytes of frozen tables that are not in LMDB.
  size_t WaitingBytes() const;
  // Bytes of memory table brought to LMDB per second, lately; 0 at first.
  double DrainRate() const { return drain_rate_.load(std::memory_order_relaxed); }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  uint64_t damaged() const { return damaged_.load(std::memory_order_relaxed); }
  LogIndex checkpointed() const;

 private:
  enum class Job : uint8_t { kNone, kStop, kFlush, kCompact, kRemove };

  void Run();
  Job NextJob() ABSL_LOCKS_EXCLUDED(mutex_);
  void RunJob(Job job);
  // Sleeps until something happens or `timeout` is over.
  void Idle(absl::Duration timeout);
  // The oldest table that is not in LMDB and durable as a whole; null when there is none.
  std::shared_ptr<MemTable> NextTable();
  absl::Status Flush(const std::shared_ptr<MemTable>& table);
  void Flushed(const MemTable& table, const CheckpointPosition& position, absl::Duration took);
  bool Pace(const TableFlush::Progress& progress);
  absl::Status RemovalStep();
  bool CanRemove() const;
  void FreezeIfOld(absl::Time now);
  // Keeps the failure for those who wait; ends the process for one after which the file cannot be
  // trusted.
  void Failed(const absl::Status& status);
  bool Urgent() const;
  bool Stopping() const;

  const Parts parts_;
  Pacer pacer_;  // the thread's
  std::atomic<double> drain_rate_{0};
  std::atomic<uint64_t> count_{0};
  std::atomic<bool> waits_for_batch_{false};  // a frozen table is not durable yet
  std::atomic<uint64_t> damaged_{0};

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
  int urgent_ ABSL_GUARDED_BY(mutex_) = 0;  // callers that wait for a flush or a removal
  bool flushed_last_ ABSL_GUARDED_BY(mutex_) = false;
  int compact_wanted_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t compact_done_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status compact_status_ ABSL_GUARDED_BY(mutex_);
  uint64_t attempts_ ABSL_GUARDED_BY(mutex_) = 0;        // jobs begun
  uint64_t failed_attempt_ ABSL_GUARDED_BY(mutex_) = 0;  // the newest that failed
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  absl::Time retry_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  bool retry_now_ ABSL_GUARDED_BY(mutex_) =
      false;  // a new caller waits: one attempt before retry_at_
  CheckpointPosition position_ ABSL_GUARDED_BY(mutex_);
  std::vector<PendingRemoval> removals_ ABSL_GUARDED_BY(mutex_);
  std::function<absl::Time()> active_since_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> freeze_ ABSL_GUARDED_BY(mutex_);
  std::optional<base::Thread> thread_;
};

}  // namespace evenkeel::storage
