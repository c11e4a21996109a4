// Implements the shared log's space: reservations, segments made ready, old segments given up, the
// ballast.
#include <algorithm>
#include <utility>

#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "storage/log/shard_log.h"
#include "storage/log/shared_log.h"

namespace evenkeel::storage {
namespace {

// Reserved between two looks at the disk's free space.
constexpr uint64_t kSpaceCheckBytes = 8u << 20;
// For segments that become too old.
constexpr absl::Duration kUpkeepInterval = absl::Seconds(10);

}  // namespace

LogRoom SharedLog::RoomLocked() const {
  return segments_.Room(start_bytes_, kLogRecordHeaderBytes);
}

absl::Status SharedLog::Reserve(LocalShardLog* shard, size_t bytes, bool essential) {
  if (bytes > PayloadBytesMax()) {
    return Error(ErrorCode::kTransactionTooLarge,
                 "a batch of {} bytes is larger than the log's limit of {}", bytes,
                 PayloadBytesMax());
  }
  if (EVENKEEL_FAIL_POINT(storage_log_disk_full) && !essential) {
    return Error(ErrorCode::kOutOfDiskSpace, "fail point: no space in {}", options_.folder);
  }
  const size_t record_bytes = LogRecordBytes(bytes) + kLogRecordHeaderBytes;  // with a closing one
  for (;;) {
    uint64_t growth = 0;
    bool check_space = false;
    {
      absl::MutexLock lock(&mutex_);
      if (!failure_.ok()) return failure_;
      if (stopping_) return Error(ErrorCode::kShutdownInProgress, "the log is closing");
      if (record_bytes <= shard->reserved_bytes_) return absl::OkStatus();
      const size_t more = record_bytes - shard->reserved_bytes_;
      check_space = !essential && (space_is_low_ || unchecked_bytes_ >= kSpaceCheckBytes);
      const size_t records = shard->reserved_bytes_ == 0 ? 1 : 0;
      if (!check_space && space_.Fits(more, record_bytes, records, RoomLocked())) {
        space_.Owe(more, record_bytes, records);
        shard->reserved_bytes_ = record_bytes;
        unchecked_bytes_ += more;
        return absl::OkStatus();
      }
      growth = growth_;
    }
    if (check_space) {
      EVENKEEL_RETURN_IF_ERROR(CheckSpace());
    } else {
      EVENKEEL_RETURN_IF_ERROR(GrowSpace(essential, growth));
    }
  }
}

// Makes one more segment ready, unless another thread has done so since `seen_growth` was read.
absl::Status SharedLog::GrowSpace(bool essential, uint64_t seen_growth) {
  absl::MutexLock files_lock(&files_mutex_);
  {
    absl::MutexLock lock(&mutex_);
    if (growth_ != seen_growth) return absl::OkStatus();
  }
  absl::StatusOr<std::shared_ptr<LogSegment>> segment = PrepareOrMakeRoom(essential);
  if (!segment.ok()) return Annotate(segment.status(), "the log needs another segment");
  absl::MutexLock lock(&mutex_);
  segments_.AddReady(*std::move(segment));
  ++growth_;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<LogSegment>> SharedLog::PrepareOrMakeRoom(bool essential) {
  uint64_t number = 0;
  {
    absl::MutexLock lock(&mutex_);
    number = segments_.next_number();
  }
  // Not zeroed: somebody waits for it.
  auto segment = files_.Prepare(number, /*zeroed=*/false);
  if (CodeOf(segment.status()) != ErrorCode::kOutOfDiskSpace) return segment;
  if (RetireOldest(/*forced=*/true)) return files_.Prepare(number, /*zeroed=*/false);
  if (!essential || !files_.has_ballast()) return segment;
  EVENKEEL_RETURN_IF_ERROR(files_.ReleaseBallast());
  {
    absl::MutexLock lock(&mutex_);
    space_is_low_ = true;
  }
  base::LogWarning("storage", "the disk is full; the log uses its ballast",
                   {{"folder", options_.folder}});
  return files_.Prepare(number, /*zeroed=*/false);
}

absl::Status SharedLog::CheckSpace() {
  absl::MutexLock files_lock(&files_mutex_);
  const absl::Status status = CheckSpaceLocked();
  absl::MutexLock lock(&mutex_);
  space_is_low_ = !status.ok();
  unchecked_bytes_ = 0;
  return status;
}

// OK when the ballast is there and enough is free for checkpoints.
absl::Status SharedLog::CheckSpaceLocked() {
  EVENKEEL_ASSIGN_OR_RETURN(const uint64_t free, files_.FreeBytes());
  const bool needs_ballast = options_.ballast_bytes > 0 && !files_.has_ballast();
  const uint64_t wanted = options_.free_bytes_min + (needs_ballast ? options_.ballast_bytes : 0);
  if (free < wanted) {
    return Error(ErrorCode::kOutOfDiskSpace,
                 "{} has {} bytes free, fewer than the {} kept for removals and checkpoints",
                 options_.folder, free, wanted);
  }
  return needs_ballast ? files_.RestoreBallast() : absl::OkStatus();
}

// A segment is made ready when half of the current one is used and there is none.
bool SharedLog::WantsReadyLocked() const {
  return segments_.ready_count() == 0 && segments_.RestBytes() < segments_.current().capacity() / 2;
}

void SharedLog::WakeMaintenanceLocked() {
  maintenance_wanted_ = true;
  maintenance_.Signal();
}

void SharedLog::RunMaintenance() {
  for (;;) {
    {
      absl::MutexLock lock(&mutex_);
      if (!maintenance_wanted_ && !stopping_ && failure_.ok()) {
        maintenance_.WaitWithTimeout(&mutex_, kUpkeepInterval);
      }
      if (stopping_ || !failure_.ok()) return;
      maintenance_wanted_ = false;
    }
    Maintain();
  }
}

void SharedLog::Maintain() {
  absl::MutexLock files_lock(&files_mutex_);
  while (RetireOldest(/*forced=*/false)) {
  }
  uint64_t number = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (!WantsReadyLocked() || !failure_.ok()) return;
    number = segments_.next_number();
  }
  absl::StatusOr<std::shared_ptr<LogSegment>> segment = files_.Prepare(number, /*zeroed=*/true);
  if (!segment.ok()) {
    // Not fatal: whoever needs the space tries again and hears of it.
    base::LogWarning("storage", "no log segment could be made ready",
                     {{"error", segment.status()}});
    return;
  }
  absl::MutexLock lock(&mutex_);
  segments_.AddReady(*std::move(segment));
  ++growth_;
}

// Gives the oldest segment up if it may go. False when it may not.
bool SharedLog::RetireOldest(bool forced) {
  std::shared_ptr<LogSegment> segment;
  {
    absl::MutexLock lock(&mutex_);
    if (!MayRetireLocked(forced)) return false;
    segment = segments_.DropOldest();
  }
  const absl::Status status = files_.Retire(std::move(segment));
  // After a failed sync of the folder, the next step could leave a gap in the numbers.
  if (!status.ok()) Fail(status);
  return status.ok();
}

bool SharedLog::MayRetireLocked(bool forced) const {
  const auto forgotten = [this](ShardId id) {
    const LocalShardLog* const shard = FindShard(id);
    return shard == nullptr ? LogIndex{0} : shard->forgotten_;
  };
  if (!failure_.ok() || !segments_.CanDropOldest(durable_, forgotten)) return false;
  if (forced || segments_.TotalBytes() > options_.retain_bytes) return true;
  const Timestamp highest = segments_.oldest().highest();
  return absl::FromUnixSeconds(highest.seconds()) + options_.retain_age < options_.clock->Now();
}

void SharedLog::Forget(LocalShardLog* shard, LogIndex last) {
  absl::MutexLock lock(&mutex_);
  shard->forgotten_ = std::max(shard->forgotten_, last);
  if (MayRetireLocked(/*forced=*/false)) WakeMaintenanceLocked();
}

}  // namespace evenkeel::storage
