// The log of a process, shared by its shards: one thread, one file at a time, group commit without
// a timer.
//
// While one group is synced the queue fills; then all of it goes, cut at `group_bytes_max`, shards
// taking turns. One group is one write and one sync. A second thread makes segments ready ahead of
// time and gives old ones up.
//
// Invariants
//   I1  A committed listener hears of an entry only after the sync of its group has succeeded.
//   I2  A group is written only after the sync of the one before: at most one group is not durable.
//   I3  After a failed write or sync nothing is written, committed or announced any more.
//   I4  What was reserved has room in segments that are already durable.
//   I5  A segment is given up only when no shard needs it, oldest first, and when the start of the
//       next one is durable.
//
// Lock order: files_mutex_, then mutex_; a shard's listener mutex alone. Design: docs/storage.md.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/thread.h"
#include "base/types.h"
#include "storage/file.h"
#include "storage/log/log.h"
#include "storage/log/log_files.h"
#include "storage/log/queue.h"
#include "storage/log/segment_list.h"
#include "storage/log/space.h"

namespace evenkeel::storage {

class LocalShardLog;

struct SharedLogOptions {
  std::string folder;  // made if missing
  FileSystem* file_system = FileSystem::System();
  const base::WallClock* clock = base::WallClock::System();
  uint64_t segment_bytes = limits::kLogSegmentBytes;  // below 4 GB
  size_t group_bytes_max = limits::kLogGroupBytesMax;
  // Kept allocated, for essential batches on a full disk: one more segment, and as much for the
  // checkpoint. 0: none.
  uint64_t ballast_bytes = 2 * limits::kLogSegmentBytes;
  // Below it only essential batches are taken, so that checkpoints can go on.
  uint64_t free_bytes_min = 64u << 20;
  // Segments that no shard needs are kept for readers of the change log within both bounds; on a
  // full disk they go first.
  uint64_t retain_bytes = uint64_t{1} << 30;
  absl::Duration retain_age = absl::Hours(24);
  // How long the log is idle before it writes a closing record.
  absl::Duration closing_delay = absl::Milliseconds(50);
  // Called once, by the thread that met the error, when a write or sync has failed. Empty: logs and
  // ends the process with status 70.
  std::function<void(const absl::Status&)> on_fatal;
  std::function<uint64_t()> new_salt;  // empty: base::GlobalRandom64
  // False: no threads; every group is written by StepForTest, so that a test repeats exactly.
  bool threads = true;
};

struct SharedLogStats {
  uint64_t groups = 0;   // synced, closing records included
  uint64_t entries = 0;  // committed since the start
  uint64_t bytes = 0;    // written since the start
  uint64_t queued_or_reserved_bytes = 0;
  uint64_t segment_count = 0;  // with records
  uint64_t ready_count = 0;    // made ready behind them
  bool space_is_low = false;
  LogPosition durable;
};

class SharedLog {
 public:
  // Recovers the log and starts its threads. Shards whose entries are found exist too, besides
  // `shards`.
  //
  // Errors   UnknownError when something acknowledged is damaged or missing, naming file and
  //          offset; OutOfDiskSpace; those of the file system; InvalidOptions.
  static absl::StatusOr<std::unique_ptr<SharedLog>> Open(SharedLogOptions options,
                                                         const std::vector<ShardId>& shards);
  ~SharedLog();

  // Null for an unknown shard. Lives as long as the log.
  ShardLog* shard(ShardId id);
  std::vector<ShardId> shard_ids() const;

  // Writes what is queued and a closing record, ends the threads. Appends must have ended. Returns
  // the fatal error, if any.
  absl::Status Close();
  SharedLogStats Stats() const;

  // Writes one group, or the closing record if nothing is queued and none was written. False when
  // there was nothing to do.
  bool StepForTest();

 private:
  friend class LocalShardLog;

  // What one write and one sync make durable.
  struct Group {
    std::shared_ptr<LogSegment> segment;
    uint64_t offset = 0;
    LogPosition durable;                // claimed by its records
    std::vector<LogShardStart> starts;  // of its start record
    bool has_start = false;
    std::vector<PendingEntry> entries;
    std::vector<uint64_t> offsets;  // of the entries
  };

  explicit SharedLog(SharedLogOptions options);
  absl::Status Start(const std::vector<ShardId>& shards);
  absl::Status StartSegments(RecoveredLog* recovered);
  void AddShard(ShardId id, LogIndex last);

  // For LocalShardLog.
  absl::Status Reserve(LocalShardLog* shard, size_t bytes, bool essential);
  void Append(LocalShardLog* shard, LogEntry entry);
  absl::Status CutSuffix(LocalShardLog* shard, LogIndex from);
  void Forget(LocalShardLog* shard, LogIndex last);
  size_t PayloadBytesMax() const;

  // The log thread.
  void RunLog();
  bool WaitForWork();
  bool WriteGroup();
  bool PlanGroup(Group* group);
  bool PlanGroupLocked(Group* group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EncodeGroup(Group* group);
  void Commit(const Group& group);
  bool WriteClosing();
  // Writes buffer_; false after a failure, which has been reported.
  bool WriteBuffer(LogSegment& segment, uint64_t offset);
  void SettleLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Fail(const absl::Status& status);

  // Space and old segments; by any thread.
  absl::Status GrowSpace(bool essential, uint64_t seen_growth);
  absl::StatusOr<std::shared_ptr<LogSegment>> PrepareOrMakeRoom(bool essential)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  absl::Status CheckSpace();
  absl::Status CheckSpaceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  void RunMaintenance();
  void Maintain();
  bool RetireOldest(bool forced) ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  bool MayRetireLocked(bool forced) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool WantsReadyLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeMaintenanceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  LogRoom RoomLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  LocalShardLog* FindShard(ShardId id) const;

  const SharedLogOptions options_;
  std::unique_ptr<FileLock> folder_lock_;
  std::vector<std::unique_ptr<LocalShardLog>> shards_;  // fixed after Start
  uint64_t start_bytes_ = 0;                            // of a start record

  absl::Mutex files_mutex_;
  LogFiles files_ ABSL_GUARDED_BY(files_mutex_);

  mutable absl::Mutex mutex_;
  absl::CondVar work_;         // the log thread waits for entries
  absl::CondVar maintenance_;  // the second thread waits for something to do
  LogQueue queue_ ABSL_GUARDED_BY(mutex_);
  LogSpace space_ ABSL_GUARDED_BY(mutex_);
  LogSegmentList segments_ ABSL_GUARDED_BY(mutex_);
  LogPosition durable_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = true;  // nothing behind the last closing record
  bool in_flight_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool maintenance_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool space_is_low_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t growth_ ABSL_GUARDED_BY(mutex_) = 0;  // segments made ready since the start
  uint64_t unchecked_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  SharedLogStats stats_ ABSL_GUARDED_BY(mutex_);

  std::string buffer_;  // of the log thread

  std::optional<base::Thread> log_thread_;
  std::optional<base::Thread> maintenance_thread_;
};

}  // namespace evenkeel::storage
