// Implements the checkpoint thread.
#include "storage/checkpoint/checkpointer.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/fail_point.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/status.h"
#include "storage/checkpoint/range_removal.h"

namespace evenkeel::storage {
namespace {

constexpr uint64_t kHeldBackBytesMax = 4 * limits::kLogSegmentBytes;
constexpr absl::Duration kIdleMax = absl::Seconds(1);
constexpr absl::Duration kRetryAfter = absl::Seconds(1);
constexpr absl::Duration kBetweenRemovalSteps = absl::Milliseconds(20);
constexpr double kRateShareOfNewest = 0.5;

absl::Status Closing() { return Error(ErrorCode::kShutdownInProgress, "the shard is closing"); }

}  // namespace

Checkpointer::Checkpointer(Parts parts, EngineState state)
    : parts_(parts), position_(state.position), removals_(std::move(state.removals)) {}

void Checkpointer::Start() {
  thread_.emplace("shard-ckpt", [this] { Run(); });
}

void Checkpointer::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  thread_.reset();
}

void Checkpointer::WatchActive(std::function<absl::Time()> active_since,
                               std::function<void()> freeze) {
  absl::MutexLock lock(&mutex_);
  active_since_ = std::move(active_since);
  freeze_ = std::move(freeze);
}

void Checkpointer::Notify() {
  absl::MutexLock lock(&mutex_);
  notified_ = true;
  changed_.SignalAll();
}

bool Checkpointer::Stopping() const {
  absl::MutexLock lock(&mutex_);
  return stopping_;
}

bool Checkpointer::Urgent() const {
  absl::MutexLock lock(&mutex_);
  return urgent_ > 0;
}

LogIndex Checkpointer::checkpointed() const {
  absl::MutexLock lock(&mutex_);
  return position_.index;
}

size_t Checkpointer::WaitingBytes() const {
  const std::shared_ptr<const View> view = parts_.views->Current();
  const auto& entries = view->tables->entries;
  size_t bytes = 0;
  for (size_t i = 0; i + 1 < entries.size(); ++i) {
    if (!entries[i].in_lmdb) bytes += entries[i].table->used_bytes();
  }
  return bytes;
}

std::shared_ptr<MemTable> Checkpointer::NextTable() {
  waits_for_batch_.store(true);  // before the look, so that no publication behind it is missed
  const std::shared_ptr<const View> view = parts_.views->Current();
  const auto& entries = view->tables->entries;
  for (size_t i = 0; i + 1 < entries.size(); ++i) {
    if (entries[i].in_lmdb) continue;
    return entries[i].table->last_index() <= view->index ? entries[i].table : nullptr;
  }
  waits_for_batch_.store(false);
  return nullptr;
}

void Checkpointer::Run() {
  while (true) {
    const Job job = NextJob();
    if (job == Job::kStop) return;
    if (job == Job::kNone) {
      Idle(std::min(kIdleMax, parts_.options->table_age_max));
    } else {
      RunJob(job);
    }
    parts_.history->Trim(absl::Now());
    FreezeIfOld(absl::Now());
  }
}

Checkpointer::Job Checkpointer::NextJob() {
  const bool table_ready = NextTable() != nullptr;
  const bool can_remove = CanRemove();
  absl::MutexLock lock(&mutex_);
  notified_ = false;
  if (stopping_) return Job::kStop;
  if (retry_at_ > absl::Now() && !retry_now_) return Job::kNone;
  retry_now_ = false;
  ++attempts_;
  // Under load there is always a table: other work gets its turn between two of them.
  const bool other = can_remove || compact_wanted_ > 0;
  if (table_ready && !(other && flushed_last_)) {
    flushed_last_ = true;
    return Job::kFlush;
  }
  flushed_last_ = false;
  if (can_remove) return Job::kRemove;
  return compact_wanted_ > 0 ? Job::kCompact : Job::kNone;
}

void Checkpointer::RunJob(Job job) {
  absl::Status status;
  if (job == Job::kFlush) {
    status = Flush(NextTable());
  } else if (job == Job::kRemove) {
    status = RemovalStep();
    if (status.ok() && !Urgent()) Idle(kBetweenRemovalSteps);  // ends at once when a table waits
  } else {
    absl::Status compacted = parts_.lmdb->Compact();
    absl::MutexLock lock(&mutex_);
    compact_status_ = std::move(compacted);
    compact_wanted_ = 0;
    ++compact_done_;
    changed_.SignalAll();
  }
  if (!status.ok() && CodeOf(status) != ErrorCode::kShutdownInProgress) Failed(status);
}

void Checkpointer::Failed(const absl::Status& status) {
  base::LogError("storage", "a checkpoint failed", {{"error", status}});
  // After a failed sync nobody knows what the file holds; a full disk is found before.
  EVENKEEL_CHECK(CodeOf(status) == ErrorCode::kOutOfDiskSpace);
  (void)parts_.reserve->Release();
  absl::MutexLock lock(&mutex_);
  failed_attempt_ = attempts_;
  failure_ = status;
  retry_at_ = absl::Now() + kRetryAfter;
  changed_.SignalAll();
}

void Checkpointer::Idle(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  absl::MutexLock lock(&mutex_);
  while (!notified_ && !stopping_ && !changed_.WaitWithDeadline(&mutex_, deadline)) {
  }
}

absl::Status Checkpointer::Flush(const std::shared_ptr<MemTable>& table) {
  const absl::Time begin = absl::Now();
  const size_t waiting = WaitingBytes();
  pacer_.Begin(begin, waiting > table->used_bytes() ? 1 : 0);
  CheckpointPosition position;
  {
    absl::MutexLock lock(&mutex_);
    position = position_;
  }
  position.index = table->last_index();
  position.latest = std::max(position.latest, table->max_timestamp());
  position.clock_bound = std::max(position.clock_bound, table->clock_bound());
  TableFlush flush(
      table.get(), parts_.lmdb, parts_.options, [this] { return pacer_.DirtyPagesMax(); },
      [this](const TableFlush::Progress& progress) { return Pace(progress); });
  const absl::Status status = flush.Run(position);
  damaged_.fetch_add(flush.damaged(), std::memory_order_relaxed);
  if (status.ok()) Flushed(*table, position, absl::Now() - begin);
  return status;
}

void Checkpointer::Flushed(const MemTable& table, const CheckpointPosition& position,
                           absl::Duration took) {
  parts_.history->AddTable(&table, absl::Now());
  parts_.views->MarkInLmdb(&table);
  parts_.log->Forget(position.index);
  parts_.reserve->Restore();
  count_.fetch_add(1, std::memory_order_relaxed);
  // A paced flush says nothing about what could be reached.
  if (pacer_.hurried()) {
    const double rate =
        static_cast<double>(table.used_bytes()) / std::max(absl::ToDoubleSeconds(took), 1e-3);
    const double old = DrainRate();
    drain_rate_.store(old == 0 ? rate : old + kRateShareOfNewest * (rate - old),
                      std::memory_order_relaxed);
  }
  absl::MutexLock lock(&mutex_);
  position_ = position;
  for (PendingRemoval& removal : RemovalsOf(table)) removals_.push_back(std::move(removal));
  retry_at_ = absl::InfinitePast();
  changed_.SignalAll();
}

bool Checkpointer::Pace(const TableFlush::Progress& progress) {
  const auto deadline = [&] {
    const absl::Time now = absl::Now();
    return now + pacer_.WaitAt(now, progress.keys_done, progress.keys_total);
  };
  const size_t table_bytes_max = parts_.options->table_bytes_max;
  while (true) {
    // More than one full table in all: the next one is already waiting.
    if (Urgent() || WaitingBytes() > table_bytes_max * 3 / 2) pacer_.Hurry();
    const absl::Time until = deadline();
    if (Stopping()) return false;
    if (until <= absl::Now()) return true;
    absl::MutexLock lock(&mutex_);
    notified_ = false;
    if (!stopping_ && urgent_ == 0) changed_.WaitWithDeadline(&mutex_, until);
  }
}

bool Checkpointer::CanRemove() const {
  const Timestamp lowest = parts_.history->LowestOpen();
  absl::MutexLock lock(&mutex_);
  return std::any_of(removals_.begin(), removals_.end(),
                     [&](const PendingRemoval& removal) { return removal.range.marked <= lowest; });
}

absl::Status Checkpointer::RemovalStep() {
  const Timestamp lowest = parts_.history->LowestOpen();
  PendingRemoval removal;
  {
    absl::MutexLock lock(&mutex_);
    const auto found =
        std::find_if(removals_.begin(), removals_.end(),
                     [&](const PendingRemoval& each) { return each.range.marked <= lowest; });
    if (found == removals_.end()) return absl::OkStatus();
    removal = *found;
  }
  (void)EVENKEEL_FAIL_POINT(storage_range_removal_step);
  EVENKEEL_ASSIGN_OR_RETURN(const bool done,
                            RemoveSome(parts_.lmdb, *parts_.options, &removal, kRemovalKeysPerStep,
                                       pacer_.pages_max_hurry()));
  absl::MutexLock lock(&mutex_);
  const auto stepped =
      std::find_if(removals_.begin(), removals_.end(),
                   [&](const PendingRemoval& each) { return each.row == removal.row; });
  if (done) {
    removals_.erase(stepped);
  } else {
    *stepped = std::move(removal);
  }
  changed_.SignalAll();
  return absl::OkStatus();
}

void Checkpointer::FreezeIfOld(absl::Time now) {
  std::function<absl::Time()> active_since;
  std::function<void()> freeze;
  {
    absl::MutexLock lock(&mutex_);
    active_since = active_since_;
    freeze = freeze_;
  }
  if (!active_since) return;
  const absl::Time since = active_since();
  if (since == absl::InfiniteFuture()) return;
  const bool old = now - since > parts_.options->table_age_max;
  const bool holds_back = parts_.log->HeldBackBytes() > kHeldBackBytesMax && NextTable() == nullptr;
  if (old || holds_back) freeze();
}

absl::Status Checkpointer::WaitFor(LogIndex index) {
  absl::MutexLock lock(&mutex_);
  const uint64_t running = attempts_;  // may have begun before the cause of its failure was removed
  ++urgent_;
  retry_now_ = notified_ = true;
  changed_.SignalAll();
  while (!stopping_ && position_.index < index && failed_attempt_ <= running)
    changed_.Wait(&mutex_);
  --urgent_;
  if (position_.index >= index) return absl::OkStatus();
  return stopping_ ? Closing() : failure_;
}

absl::Status Checkpointer::FinishRemovals() {
  absl::MutexLock lock(&mutex_);
  const uint64_t running = attempts_;  // may have begun before the cause of its failure was removed
  ++urgent_;
  retry_now_ = notified_ = true;
  changed_.SignalAll();
  while (!stopping_ && !removals_.empty() && failed_attempt_ <= running) changed_.Wait(&mutex_);
  --urgent_;
  if (removals_.empty()) return absl::OkStatus();
  return stopping_ ? Closing() : failure_;
}

absl::Status Checkpointer::Compact() {
  absl::MutexLock lock(&mutex_);
  const uint64_t done = compact_done_;
  ++compact_wanted_;
  notified_ = true;
  changed_.SignalAll();
  while (!stopping_ && compact_done_ == done) changed_.Wait(&mutex_);
  return compact_done_ == done ? Closing() : compact_status_;
}

}  // namespace evenkeel::storage
