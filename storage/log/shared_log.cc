// Implements the shared log: opening, queueing, group commit, closing. Space and old segments:
// upkeep.cc.
#include "storage/log/shared_log.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/fail_point.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "storage/log/shard_log.h"

namespace evenkeel::storage {
namespace {

constexpr int kFatalExitCode = 70;             // EX_SOFTWARE
constexpr size_t kBufferKeptBytes = 8u << 20;  // a larger buffer is given back after its group
constexpr uint64_t kSegmentBytesMax = uint64_t{1} << 32;
constexpr uint64_t kSegmentBytesMin = 4096;

void EndProcess(const absl::Status& status) {
  base::LogError("storage", "the log cannot be written; ending the process", {{"error", status}});
  base::FlushLog();
  _exit(kFatalExitCode);
}

SharedLogOptions WithDefaults(SharedLogOptions options) {
  if (!options.on_fatal) options.on_fatal = EndProcess;
  if (!options.new_salt) options.new_salt = base::GlobalRandom64;
  return options;
}

}  // namespace

SharedLog::SharedLog(SharedLogOptions options)
    : options_(WithDefaults(std::move(options))),
      files_({.file_system = options_.file_system,
              .folder = options_.folder,
              .segment_bytes = options_.segment_bytes,
              .ballast_bytes = options_.ballast_bytes,
              .new_salt = options_.new_salt}) {}

SharedLog::~SharedLog() {
  // Whoever needs the result has called Close.
  Close().IgnoreError();
}

absl::StatusOr<std::unique_ptr<SharedLog>> SharedLog::Open(SharedLogOptions options,
                                                           const std::vector<ShardId>& shards) {
  if (options.segment_bytes < kSegmentBytesMin || options.segment_bytes >= kSegmentBytesMax) {
    return Error(ErrorCode::kInvalidOptions, "log segments of {} bytes are not possible",
                 options.segment_bytes);
  }
  std::unique_ptr<SharedLog> log(new SharedLog(std::move(options)));
  EVENKEEL_RETURN_IF_ERROR(log->Start(shards));
  return log;
}

absl::Status SharedLog::Start(const std::vector<ShardId>& shards) {
  EVENKEEL_RETURN_IF_ERROR(options_.file_system->CreateFolder(options_.folder));
  // Recovery writes: nobody else may be at work here.
  EVENKEEL_ASSIGN_OR_RETURN(folder_lock_, options_.file_system->LockFolder(options_.folder));
  EVENKEEL_ASSIGN_OR_RETURN(RecoveredLog recovered,
                            RecoverLog(options_.file_system, options_.folder));
  for (const auto& [id, last] : recovered.last) AddShard(id, last);
  for (const ShardId id : shards) {
    if (FindShard(id) == nullptr) AddShard(id, LogIndex{0});
  }
  start_bytes_ = LogRecordBytes(EncodeLogStart(std::vector<LogShardStart>(shards_.size())).size());
  EVENKEEL_RETURN_IF_ERROR(StartSegments(&recovered));
  if (options_.threads) {
    log_thread_.emplace("log", [this] { RunLog(); });
    maintenance_thread_.emplace("log-upkeep", [this] { RunMaintenance(); });
  }
  return absl::OkStatus();
}

absl::Status SharedLog::StartSegments(RecoveredLog* recovered) {
  absl::MutexLock files_lock(&files_mutex_);
  EVENKEEL_RETURN_IF_ERROR(files_.Open());
  if (recovered->segments.empty()) {
    // The first one is not zeroed: a new log starts at once.
    EVENKEEL_ASSIGN_OR_RETURN(std::shared_ptr<LogSegment> first,
                              files_.Prepare(1, /*zeroed=*/false));
    recovered->end = first->At(kLogFirstRecordOffset);
    recovered->segments.push_back(std::move(first));
  }
  const auto other_size = [this](const std::shared_ptr<LogSegment>& segment) {
    return segment->capacity() != options_.segment_bytes;
  };
  // Ready segments of another size could be too small for a record; the last goes first, so that no
  // gap appears.
  if (std::any_of(recovered->ready.begin(), recovered->ready.end(), other_size)) {
    for (; !recovered->ready.empty(); recovered->ready.pop_back()) {
      EVENKEEL_RETURN_IF_ERROR(files_.Retire(std::move(recovered->ready.back())));
    }
  }
  if (!files_.has_ballast()) {
    const absl::Status status = files_.RestoreBallast();
    if (!status.ok() && CodeOf(status) != ErrorCode::kOutOfDiskSpace) return status;
  }
  absl::MutexLock lock(&mutex_);
  durable_ = recovered->end;
  closed_ = recovered->closed;
  segments_.Start(std::move(*recovered));
  if (segments_.AtStart()) closed_ = true;  // nothing to claim
  space_is_low_ = options_.ballast_bytes > 0 && !files_.has_ballast();
  maintenance_wanted_ = true;
  return absl::OkStatus();
}

void SharedLog::AddShard(ShardId id, LogIndex last) {
  shards_.push_back(std::make_unique<LocalShardLog>(this, id, last));
}

LocalShardLog* SharedLog::FindShard(ShardId id) const {
  for (const auto& shard : shards_) {
    if (shard->id() == id) return shard.get();
  }
  return nullptr;
}

ShardLog* SharedLog::shard(ShardId id) { return FindShard(id); }

std::vector<ShardId> SharedLog::shard_ids() const {
  std::vector<ShardId> ids;
  for (const auto& shard : shards_) ids.push_back(shard->id());
  return ids;
}

size_t SharedLog::PayloadBytesMax() const {
  // A whole segment, without its header, the start and closing records, the entry's own header and
  // padding.
  return options_.segment_bytes - kLogFirstRecordOffset - start_bytes_ -
         3 * LogRecordBytes(kLogRecordAlignment);
}

void SharedLog::Append(LocalShardLog* shard, LogEntry entry) {
  PendingEntry pending{.shard = shard->id()};
  EVENKEEL_CHECK(entry.payload.size() <= PayloadBytesMax());
  pending.payload_checksum = LogPayloadChecksum(entry.payload);
  pending.record_bytes = LogRecordBytes(entry.payload.size());
  pending.entry = std::move(entry);

  absl::MutexLock lock(&mutex_);
  if (!failure_.ok()) return;
  EVENKEEL_CHECK(!stopping_);
  EVENKEEL_CHECK(pending.entry.index.value == shard->appended_.value + 1);
  shard->appended_ = pending.entry.index;
  space_.Settle(shard->reserved_bytes_, shard->reserved_bytes_ > 0 ? 1 : 0);
  shard->reserved_bytes_ = 0;
  const size_t record_bytes = pending.record_bytes + kLogRecordHeaderBytes;  // with a closing one
  space_.Owe(record_bytes, record_bytes, 1);
  const bool wake = queue_.empty();
  queue_.Push(std::move(pending));
  if (wake) work_.Signal();
}

absl::Status SharedLog::CutSuffix(LocalShardLog* shard, LogIndex from) {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](bool* in_flight) { return !*in_flight; }, &in_flight_));
  if (from <= shard->placed_) {
    return Error(ErrorCode::kIllegalOperation, "entry {} of shard {} is committed, as all up to {}",
                 from.value, shard->id().value, shard->placed_.value);
  }
  const LogQueue::Cut cut = queue_.CutSuffix(shard->id(), from);
  space_.Settle(cut.bytes + cut.count * kLogRecordHeaderBytes, cut.count);
  shard->appended_ = std::min(shard->appended_, LogIndex{from.value - 1});
  return absl::OkStatus();
}

void SharedLog::RunLog() {
  while (WaitForWork()) {
    if (!WriteGroup()) WriteClosing();
  }
}

// False when the thread shall end.
bool SharedLog::WaitForWork() {
  absl::MutexLock lock(&mutex_);
  while (failure_.ok() && queue_.empty()) {
    if (stopping_) return !closed_;
    if (closed_) {
      work_.Wait(&mutex_);
    } else if (work_.WaitWithTimeout(&mutex_, options_.closing_delay)) {
      return true;
    }
  }
  return failure_.ok();
}

bool SharedLog::StepForTest() {
  EVENKEEL_CHECK(!options_.threads);
  const bool done = WriteGroup() || WriteClosing();
  Maintain();
  return done;
}

// Writes, syncs and announces one group. False when nothing is queued, or after a failure.
bool SharedLog::WriteGroup() {
  Group group;
  if (!PlanGroup(&group)) return false;
  EncodeGroup(&group);
  if (EVENKEEL_FAIL_POINT(storage_log_before_write)) {
    Fail(Error(ErrorCode::kOperationFailed, "fail point before a write"));
    return false;
  }
  if (!WriteBuffer(*group.segment, group.offset)) return false;
  (void)EVENKEEL_FAIL_POINT(storage_log_after_sync);
  Commit(group);
  return true;
}

bool SharedLog::PlanGroup(Group* group) {
  for (;;) {
    uint64_t growth = 0;
    {
      absl::MutexLock lock(&mutex_);
      if (queue_.empty() || !failure_.ok()) return false;
      growth = growth_;
      if (PlanGroupLocked(group)) return true;
    }
    // Only for entries that are larger than what was reserved for them.
    const absl::Status status = GrowSpace(/*essential=*/true, growth);
    if (!status.ok()) {
      Fail(status);
      return false;
    }
  }
}

// Takes the entries of the next group and moves the end of the log behind them. False when they
// need a segment and none is ready.
bool SharedLog::PlanGroupLocked(Group* group) {
  do {
    group->entries = queue_.TakeGroup(options_.group_bytes_max, RoomLocked().rest_bytes);
  } while (group->entries.empty() && segments_.Rotate());
  if (group->entries.empty()) return false;
  group->segment = segments_.current_pointer();
  group->offset = segments_.end().offset();
  group->durable = durable_;
  group->has_start = segments_.AtStart();
  if (group->has_start) {
    for (const auto& shard : shards_) group->starts.push_back({shard->id(), shard->placed_});
    segments_.Advance(start_bytes_);
  }
  for (const PendingEntry& pending : group->entries) {
    group->offsets.push_back(segments_.end().offset());
    segments_.Advance(pending.record_bytes);
    space_.Settle(pending.record_bytes + kLogRecordHeaderBytes, 1);
    FindShard(pending.shard)->placed_ = pending.entry.index;
  }
  in_flight_ = true;
  if (WantsReadyLocked()) WakeMaintenanceLocked();
  return true;
}

namespace {

LogRecord ToRecord(const PendingEntry& pending, LogPosition durable) {
  return {.kind = LogRecordKind::kEntry,
          .shard = pending.shard,
          .index = pending.entry.index,
          .term = pending.entry.term,
          .first_timestamp = pending.entry.first_timestamp,
          .last_timestamp = pending.entry.last_timestamp,
          .durable = durable,
          .payload = pending.entry.payload};
}

}  // namespace

void SharedLog::EncodeGroup(Group* group) {
  const LogSegment& segment = *group->segment;
  buffer_.clear();
  if (buffer_.capacity() > kBufferKeptBytes) buffer_.shrink_to_fit();
  if (group->has_start) {
    const std::string payload = EncodeLogStart(group->starts);
    const LogRecord start{
        .kind = LogRecordKind::kStart, .durable = group->durable, .payload = payload};
    AppendLogRecord(start, LogPayloadChecksum(payload), segment.At(group->offset), segment.salt(),
                    &buffer_);
  }
  for (size_t i = 0; i < group->entries.size(); ++i) {
    const PendingEntry& pending = group->entries[i];
    AppendLogRecord(ToRecord(pending, group->durable), pending.payload_checksum,
                    segment.At(group->offsets[i]), segment.salt(), &buffer_);
  }
}

bool SharedLog::WriteBuffer(LogSegment& segment, uint64_t offset) {
  std::string_view bytes = buffer_;
  const bool torn = EVENKEEL_FAIL_POINT(storage_log_torn_write);
  if (torn) bytes = bytes.substr(0, bytes.size() / 2);
  absl::Status status = segment.file().WriteAt(offset, bytes);
  (void)EVENKEEL_FAIL_POINT(storage_log_before_sync);
  if (status.ok() && torn) {
    status = Error(ErrorCode::kOperationFailed, "fail point: half of a group was written");
  }
  if (status.ok() && EVENKEEL_FAIL_POINT(storage_log_sync_fails)) {
    status = Error(ErrorCode::kOperationFailed, "fail point: sync of {}", segment.path());
  }
  if (status.ok()) status = segment.file().Sync();
  if (!status.ok()) {
    Fail(status);
    return false;
  }
  return true;
}

// What was written last is durable, and counted in the same moment.
void SharedLog::SettleLocked() {
  in_flight_ = false;
  durable_ = segments_.end();
  ++stats_.groups;
  stats_.bytes += buffer_.size();
}

void SharedLog::Commit(const Group& group) {
  {
    absl::MutexLock lock(&mutex_);
    SettleLocked();
    closed_ = false;
    for (size_t i = 0; i < group.entries.size(); ++i) {
      const PendingEntry& pending = group.entries[i];
      group.segment->NoteEntry(ToRecord(pending, group.durable), group.offsets[i]);
      LocalShardLog* const shard = FindShard(pending.shard);
      shard->committed_.store(pending.entry.index.value, std::memory_order_release);
    }
    stats_.entries += group.entries.size();
    if (group.has_start) WakeMaintenanceLocked();  // the segment before it may have been waited for
  }
  for (const auto& shard : shards_) {
    const auto last =
        std::find_if(group.entries.rbegin(), group.entries.rend(),
                     [&](const PendingEntry& pending) { return pending.shard == shard->id(); });
    if (last != group.entries.rend()) shard->Announce(last->entry.index);
  }
}

// Claims durability for everything written so far. False when that has been done, or after a
// failure.
bool SharedLog::WriteClosing() {
  std::shared_ptr<LogSegment> segment;
  LogRecord closing{.kind = LogRecordKind::kClosing};
  uint64_t offset = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (closed_ || !failure_.ok() || !queue_.empty()) return false;
    closed_ = true;
    if (segments_.RestBytes() < kLogRecordHeaderBytes) return false;  // an older log's full segment
    segment = segments_.current_pointer();
    offset = segments_.end().offset();
    closing.durable = durable_;
    segments_.Advance(kLogRecordHeaderBytes);
    in_flight_ = true;
  }
  buffer_.clear();
  AppendLogRecord(closing, LogPayloadChecksum({}), segment->At(offset), segment->salt(), &buffer_);
  if (!WriteBuffer(*segment, offset)) return false;
  absl::MutexLock lock(&mutex_);
  SettleLocked();
  return true;
}

void SharedLog::Fail(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    if (!failure_.ok()) return;
    failure_ = status;
    queue_.Clear();
    in_flight_ = false;
    work_.SignalAll();
    WakeMaintenanceLocked();
  }
  options_.on_fatal(status);
}

absl::Status SharedLog::Close() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    work_.SignalAll();
    maintenance_.SignalAll();
  }
  if (!options_.threads) {
    while (WriteGroup() || WriteClosing()) {
    }
  }
  if (log_thread_.has_value()) log_thread_->Join();
  if (maintenance_thread_.has_value()) maintenance_thread_->Join();
  absl::MutexLock lock(&mutex_);
  return failure_;
}

SharedLogStats SharedLog::Stats() const {
  absl::MutexLock lock(&mutex_);
  SharedLogStats stats = stats_;
  stats.queued_or_reserved_bytes = space_.owed_bytes();
  stats.segment_count = segments_.segment_count();
  stats.ready_count = segments_.ready_count();
  stats.space_is_low = space_is_low_;
  stats.durable = durable_;
  return stats;
}

}  // namespace evenkeel::storage
