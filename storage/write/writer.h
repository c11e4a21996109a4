// The writer of a shard: one thread that executes all operations in order, in batches, and appends
// them to the log.
//
// It never waits for the disk: the log groups what is appended while it syncs. It slows down when
// the checkpoint falls behind.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/thread.h"
#include "storage/log/log.h"
#include "storage/read/view_publisher.h"
#include "storage/write/batch_context.h"
#include "storage/write/finisher.h"
#include "storage/write/write_queue.h"

namespace evenkeel::storage {

class Writer {
 public:
  // What it works with; all outlive it.
  struct Parts {
    const StoreOptions* options;
    ShardLog* log;
    base::HybridClock* clock;
    CheckpointStore* lmdb;
    ViewPublisher* views;
    ReadFloor* floor;
    WriteQueue* queue;
    Finisher* finisher;
    std::function<void()> frozen;           // a table was frozen; writer thread, short
    std::function<size_t()> waiting_bytes;  // of frozen tables not yet in LMDB
    std::function<double()> drain_rate;     // bytes a second the checkpoint writes
  };

  // Continues behind log entry `last`, whose table is the views' newest.
  Writer(Parts parts, LogIndex last, Timestamp clock_bound);
  void Start();
  // Instead of Start: executes what is queued in the calling thread. False: nothing was.
  bool RunQueued();
  // Waits for the thread to end. The queue must have been closed or aborted.
  void Join() { thread_.reset(); }

  // Waits until freeze request `number` was executed. Returns the last batch of the frozen tables.
  LogIndex WaitForFreeze(uint64_t number);
  // Since when the active table holds something; InfiniteFuture when it is empty.
  absl::Time ActiveSince() const;

  uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  uint64_t operations() const { return operations_.load(std::memory_order_relaxed); }

 private:
  void Run();
  void RunBatch(WriteQueue::Work work);
  absl::Status Reserve(size_t bytes, bool essential);
  // Reserves log space; operations that a full disk refuses get their status. Fails when nothing at
  // all can be logged.
  absl::Status Admit(WriteQueue::Work* work, std::vector<ExecutedBatch::Op>* ops);
  void Execute(std::vector<ExecutedBatch::Op>* ops, Timestamp bound_wanted);
  // Hands the batch to the log and the finisher.
  void Append(ExecutedBatch batch);
  void LogBoundIfNear(Timestamp wanted);
  void FreezeIfDue(uint64_t request);
  void SlowDown(size_t batch_bytes);

  const Parts parts_;
  BatchContext context_;
  LogIndex last_;           // the newest entry appended
  Timestamp logged_bound_;  // the newest bound appended
  Timestamp last_logged_;   // the newest commit timestamp appended
  size_t reserved_ = 0;     // bytes of log promised for the next append
  std::atomic<uint64_t> batches_{0}, operations_{0};
  static constexpr int64_t kNothingActive = 0;
  std::atomic<int64_t> active_since_;  // nanoseconds since 1970
  absl::Mutex mutex_;
  uint64_t freeze_done_ ABSL_GUARDED_BY(mutex_) = 0;
  LogIndex frozen_to_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<base::Thread> thread_;
};

}  // namespace evenkeel::storage
