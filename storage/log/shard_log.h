// One shard's view of the shared log: its numbering, its listener, what it has reserved. Internal
// to storage/log.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "storage/log/log.h"
#include "storage/log/shared_log.h"

namespace evenkeel::storage {

class LocalShardLog final : public ShardLog {
 public:
  // `last` is the shard's last entry in the recovered log.
  LocalShardLog(SharedLog* log, ShardId id, LogIndex last)
      : log_(log), id_(id), committed_(last.value), appended_(last), placed_(last) {}

  ShardId id() const { return id_; }

  void SetCommittedListener(CommittedListener listener) override;
  absl::Status Reserve(size_t bytes) override;
  absl::Status ReserveEssential(size_t bytes) override;
  size_t PayloadBytesMax() const override;
  void Append(LogEntry entry) override;
  LogIndex committed() const override { return {committed_.load(std::memory_order_acquire)}; }
  LogIndex first_index() const override;
  absl::StatusOr<std::vector<LogEntry>> Read(LogIndex from, size_t bytes_max) override;
  LogIndex FindByTimestamp(Timestamp at_least) const override;
  absl::Status CutSuffix(LogIndex from) override;
  void Forget(LogIndex last) override;
  uint64_t HeldBackBytes() const override;

 private:
  friend class SharedLog;

  void Announce(LogIndex last);

  SharedLog* const log_;
  const ShardId id_;
  std::atomic<uint64_t> committed_;

  // Guarded by the shared log's mutex.
  LogIndex appended_;  // last entry queued
  LogIndex placed_;    // last entry in a group
  LogIndex forgotten_;
  size_t reserved_bytes_ = 0;

  absl::Mutex listener_mutex_;
  CommittedListener listener_ ABSL_GUARDED_BY(listener_mutex_);
};

}  // namespace evenkeel::storage
