// Implements the writer thread.
#include "storage/write/writer.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/fail_point.h"
#include "base/limits.h"
#include "storage/write/slow_down.h"

namespace evenkeel::storage {
namespace {

constexpr uint32_t kBoundAheadSeconds = 4;  // a new bound lies so far ahead of the clock
constexpr uint32_t kBoundNearSeconds = 2;   // and is logged when less is left
constexpr size_t kBatchHeadBytes = 256;     // version, bounds, some counters

Timestamp SecondsAhead(Timestamp timestamp, uint32_t seconds) {
  return Timestamp::FromParts(timestamp.seconds() + seconds, 0);
}

}  // namespace

Writer::Writer(Parts parts, LogIndex last, Timestamp clock_bound)
    : parts_(std::move(parts)),
      context_(parts_.lmdb, parts_.floor),
      last_(last),
      logged_bound_(clock_bound),
      last_logged_(parts_.views->Current()->latest),
      active_since_(kNothingActive) {
  const auto view = parts_.views->Current();
  const MemTable& active = *view->tables->entries.back().table;
  if (active.last_index() >= active.first_index()) active_since_ = absl::ToUnixNanos(absl::Now());
}

void Writer::Start() {
  thread_.emplace("shard-writer", [this] { Run(); });
}

absl::Time Writer::ActiveSince() const {
  const int64_t nanos = active_since_.load();
  return nanos == kNothingActive ? absl::InfiniteFuture() : absl::FromUnixNanos(nanos);
}

void Writer::Run() {
  WriteQueue::Work work;
  while (parts_.queue->Take(limits::kLogGroupBytesMax, &work)) RunBatch(std::move(work));
  absl::MutexLock lock(&mutex_);
  ended_ = true;
}

bool Writer::RunQueued() {
  const bool any = !parts_.queue->IsEmpty();
  WriteQueue::Work work;
  while (!parts_.queue->IsEmpty() && parts_.queue->Take(limits::kLogGroupBytesMax, &work))
    RunBatch(std::move(work));
  return any;
}

LogIndex Writer::WaitForFreeze(uint64_t number) {
  absl::MutexLock lock(&mutex_);
  const auto done = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return freeze_done_ >= number || ended_;
  };
  mutex_.Await(absl::Condition(&done));
  return frozen_to_;
}

void Writer::RunBatch(WriteQueue::Work work) {
  (void)EVENKEEL_FAIL_POINT(storage_writer_before_batch);
  SlowDown(work.bytes);
  const uint64_t freeze = work.freeze;
  ExecutedBatch batch;
  const absl::Status admitted = Admit(&work, &batch.ops);
  context_.Begin(LogIndex{last_.value + 1}, parts_.views->Current()->tables, work.bytes);
  if (admitted.ok()) {
    Execute(&batch.ops, work.clock_bound);
  } else {
    parts_.finisher->FailBoundWaiters(admitted);
  }
  Append(std::move(batch));
  FreezeIfDue(freeze);
}

absl::Status Writer::Reserve(size_t bytes, bool essential) {
  absl::Status status =
      essential ? parts_.log->ReserveEssential(bytes) : parts_.log->Reserve(bytes);
  if (status.ok()) reserved_ = bytes;
  return status;
}

absl::Status Writer::Admit(WriteQueue::Work* work, std::vector<ExecutedBatch::Op>* ops) {
  reserved_ = 0;
  const absl::Status all = Reserve(work->bytes + kBatchHeadBytes, false);
  size_t essential_bytes = 0;
  for (std::unique_ptr<WriteOp>& op : work->ops) {
    const bool essential = op->IsEssential();
    if (essential) essential_bytes += op->SizeBytes();
    ops->push_back({std::move(op), essential ? absl::OkStatus() : all});
  }
  if (all.ok()) return all;
  const absl::Status some = Reserve(essential_bytes + kBatchHeadBytes, true);
  for (ExecutedBatch::Op& op : *ops) {
    if (op.status.ok()) op.status = some;
  }
  return some;
}

void Writer::Execute(std::vector<ExecutedBatch::Op>* ops, Timestamp bound_wanted) {
  LogBoundIfNear(bound_wanted);
  for (ExecutedBatch::Op& op : *ops) {
    if (!op.status.ok()) continue;
    const size_t mark = context_.Mark();
    context_.BeginOp();
    op.op->Execute(context_);
    if (context_.PayloadBytes() <= reserved_) continue;
    // It has written more than it said. What is behind it will be asked for again when it is
    // needed.
    op.status = Reserve(context_.PayloadBytes() + kBatchHeadBytes, op.op->IsEssential());
    if (!op.status.ok()) context_.RollBackTo(mark);
  }
  // Another thread may have moved the clock past the bound meanwhile.
  if (context_.last_tick() > logged_bound_) LogBoundIfNear(context_.last_tick());
  context_.FinishPayload();
}

void Writer::LogBoundIfNear(Timestamp wanted) {
  const Timestamp now = std::max(parts_.clock->Now(), wanted);
  if (SecondsAhead(now, kBoundNearSeconds) <= logged_bound_) return;
  logged_bound_ = SecondsAhead(now, kBoundAheadSeconds);
  context_.LogClockBound(logged_bound_);
}

void Writer::Append(ExecutedBatch batch) {
  batch.latest = context_.last_tick();
  batch.clock_bound = context_.clock_bound();
  batch.state = context_.new_state();
  batches_.fetch_add(1, std::memory_order_relaxed);
  operations_.fetch_add(batch.ops.size(), std::memory_order_relaxed);
  if (!context_.HasEffects()) {
    // It has seen what was executed before, so it ends when that is durable.
    batch.index = last_;
    context_.End();
    parts_.finisher->Add(std::move(batch));
    return;
  }
  LogEntry entry{.index = LogIndex{last_.value + 1}, .payload = context_.TakePayload()};
  last_logged_ = std::max(last_logged_, batch.latest);
  entry.last_timestamp = last_logged_;
  entry.first_timestamp = batch.latest > Timestamp{} ? context_.first_tick() : last_logged_;
  batch.index = last_ = entry.index;
  context_.EndBatch();
  if (active_since_.load() == kNothingActive) active_since_ = absl::ToUnixNanos(absl::Now());
  parts_.finisher->Add(std::move(batch));
  parts_.log->Append(std::move(entry));
}

void Writer::FreezeIfDue(uint64_t request) {
  const auto view = parts_.views->Current();
  const MemTable& active = *view->tables->entries.back().table;
  const bool due = request > 0 || active.used_bytes() >= parts_.options->table_bytes_max ||
                   EVENKEEL_FAIL_POINT(storage_freeze_now);
  if (due && active.last_index() >= active.first_index()) {
    active_since_ = kNothingActive;
    parts_.views->AddTable(std::make_shared<MemTable>(LogIndex{last_.value + 1}));
    parts_.frozen();
  }
  if (request == 0) return;
  absl::MutexLock lock(&mutex_);
  freeze_done_ = request;
  frozen_to_ = last_;
}

void Writer::SlowDown(size_t batch_bytes) {
  const size_t table_bytes_max = parts_.options->table_bytes_max;
  const size_t waiting = parts_.waiting_bytes();
  if (waiting <= table_bytes_max) return;
  const absl::Duration delay =
      WriterDelay(waiting, table_bytes_max, batch_bytes + kBatchHeadBytes, parts_.drain_rate());
  if (delay > absl::ZeroDuration()) parts_.queue->WaitUntilClosed(delay);
}

}  // namespace evenkeel::storage
