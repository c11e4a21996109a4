// Implements one shard's view of the shared log.
#include "storage/log/shard_log.h"

#include <optional>
#include <utility>

#include "base/status.h"
#include "storage/log/read_entries.h"

namespace evenkeel::storage {

void LocalShardLog::SetCommittedListener(CommittedListener listener) {
  absl::MutexLock lock(&listener_mutex_);
  listener_ = std::move(listener);
}

void LocalShardLog::Announce(LogIndex last) {
  absl::MutexLock lock(&listener_mutex_);
  if (listener_) listener_(last);
}

absl::Status LocalShardLog::Reserve(size_t bytes) {
  return log_->Reserve(this, bytes, /*essential=*/false);
}

absl::Status LocalShardLog::ReserveEssential(size_t bytes) {
  return log_->Reserve(this, bytes, /*essential=*/true);
}

size_t LocalShardLog::PayloadBytesMax() const { return log_->PayloadBytesMax(); }

void LocalShardLog::Append(LogEntry entry) { log_->Append(this, std::move(entry)); }

LogIndex LocalShardLog::first_index() const {
  absl::MutexLock lock(&log_->mutex_);
  return log_->segments_.FirstIndex(id_).value_or(LogIndex{committed().value + 1});
}

absl::StatusOr<std::vector<LogEntry>> LocalShardLog::Read(LogIndex from, size_t bytes_max) {
  LogIndex last;
  std::vector<LogReadPart> plan;
  {
    absl::MutexLock lock(&log_->mutex_);
    last = committed();
    const LogIndex first = log_->segments_.FirstIndex(id_).value_or(LogIndex{last.value + 1});
    if (from < first) {
      return Error(ErrorCode::kCappedPositionLost,
                   "entry {} of shard {} is no longer in the log, which begins with entry {}",
                   from.value, id_.value, first.value);
    }
    if (from > last) return std::vector<LogEntry>();
    plan = log_->segments_.PlanRead(id_, from);
  }
  return ReadLogEntries(plan, id_, from, last, bytes_max);
}

LogIndex LocalShardLog::FindByTimestamp(Timestamp at_least) const {
  absl::MutexLock lock(&log_->mutex_);
  const std::optional<LogIndex> found = log_->segments_.FindByTimestamp(id_, at_least);
  return found.value_or(LogIndex{committed().value + 1});
}

absl::Status LocalShardLog::CutSuffix(LogIndex from) { return log_->CutSuffix(this, from); }

void LocalShardLog::Forget(LogIndex last) { log_->Forget(this, last); }

uint64_t LocalShardLog::HeldBackBytes() const {
  absl::MutexLock lock(&log_->mutex_);
  return log_->segments_.HeldBackBytes(id_, forgotten_);
}

}  // namespace evenkeel::storage
