// Implements the store of one shard.
#include "storage/shard_store.h"

#include <absl/synchronization/notification.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/status.h"
#include "storage/lmdb/doc_value.h"
#include "storage/lmdb/lmdb_store.h"
#include "storage/read/read_slice.h"
#include "storage/replay.h"

namespace evenkeel::storage {
namespace {

constexpr size_t kReplayTablesMax = 4;  // waiting for LMDB during recovery
constexpr size_t kDocsPerCheckSlice = 1000;

std::shared_ptr<const View> FirstView(LogIndex next) {
  auto tables = std::make_shared<TableList>();
  tables->entries.push_back({std::make_shared<MemTable>(next), false});
  auto view = std::make_shared<View>();
  view->tables = std::move(tables);
  return view;
}

}  // namespace

struct ShardStoreImpl::LogListener {
  absl::Mutex mutex;
  Finisher* finisher ABSL_GUARDED_BY(mutex) = nullptr;

  void Committed(LogIndex last) {
    absl::MutexLock lock(&mutex);
    if (finisher != nullptr) finisher->Committed(last);
  }
  void Set(Finisher* to) {
    absl::MutexLock lock(&mutex);
    finisher = to;
  }
};

absl::StatusOr<std::unique_ptr<ShardStore>> ShardStore::Open(const StoreOptions& options,
                                                             ShardLog* log,
                                                             base::HybridClock* clock) {
  std::shared_ptr<CheckpointStore> lmdb = options.checkpoint_store;
  if (lmdb == nullptr) {
    EVENKEEL_ASSIGN_OR_RETURN(lmdb, OpenLmdbStore(options.folder, options.map_bytes));
  }
  auto store = std::make_unique<ShardStoreImpl>(options, log, clock, std::move(lmdb));
  EVENKEEL_RETURN_IF_ERROR(store->Start());
  return store;
}

ShardStoreImpl::ShardStoreImpl(const StoreOptions& options, ShardLog* log, base::HybridClock* clock,
                               std::shared_ptr<CheckpointStore> lmdb)
    : options_(options),
      log_(log),
      clock_(clock),
      lmdb_(std::move(lmdb)),
      views_(FirstView(LogIndex{1})),
      queue_(options.pending_bytes_max),
      reserve_(options.folder, options.reserve_bytes),
      history_(
          std::make_shared<History>(&views_, options.history_bytes_max, options.history_age_max)) {}

absl::Status ShardStoreImpl::Start() {
  EVENKEEL_ASSIGN_OR_RETURN(const CheckpointPosition position, OpenCheckpoints());
  checkpointer_->Start();
  EVENKEEL_RETURN_IF_ERROR(Recover(position));
  writer_->Start();
  checkpointer_->WatchActive([this] { return writer_->ActiveSince(); },
                             [this] { queue_.RequestFreeze(); });
  return absl::OkStatus();
}

absl::Status ShardStoreImpl::StartStepped() {
  EVENKEEL_ASSIGN_OR_RETURN(const CheckpointPosition position, OpenCheckpoints());
  return Recover(position);
}

absl::StatusOr<CheckpointPosition> ShardStoreImpl::OpenCheckpoints() {
  EVENKEEL_ASSIGN_OR_RETURN(EngineState state, LoadEngineState(lmdb_.get()));
  const CheckpointPosition position = state.position;
  views_.StartAt(position.index, position.latest);
  checkpointer_ = std::make_unique<Checkpointer>(
      Checkpointer::Parts{&options_, log_, lmdb_.get(), &views_, history_.get(), &reserve_},
      std::move(state));
  return position;
}

absl::Status ShardStoreImpl::Recover(const CheckpointPosition& position) {
  const auto full = [this]() -> absl::Status {
    checkpointer_->Notify();
    if (checkpointer_->WaitingBytes() <= kReplayTablesMax * options_.table_bytes_max)
      return absl::OkStatus();
    return checkpointer_->WaitFor(LogIndex{checkpointer_->checkpointed().value + 1});
  };
  EVENKEEL_ASSIGN_OR_RETURN(
      Replayed replayed, ReplayLog(log_, position.index, options_.table_bytes_max, &views_, full));
  log_->Forget(position.index);
  // History does not outlive a restart.
  views_.RaiseHistoryFloor(replayed.latest);
  StartWriting(replayed.last, std::max(position.clock_bound, replayed.clock_bound));
  reserve_.Restore();
  base::LogInfo("storage", "shard opened",
                {{"checkpoint", position.index.value}, {"log_end", replayed.last.value}});
  return absl::OkStatus();
}

void ShardStoreImpl::StartWriting(LogIndex last, Timestamp clock_bound) {
  const Timestamp latest = views_.Current()->latest;
  clock_->Observe(std::max(latest, clock_bound));
  floor_ = std::make_unique<ReadFloor>(clock_, latest);
  finisher_ = std::make_unique<Finisher>(
      &views_, clock_bound, [this](size_t bytes) { queue_.Release(bytes); },
      [this] { checkpointer_->Published(); });
  listener_ = std::make_shared<LogListener>();
  listener_->Set(finisher_.get());
  log_->SetCommittedListener(
      [listener = listener_](LogIndex committed) { listener->Committed(committed); });
  Writer::Parts parts{&options_, log_,         clock_,  lmdb_.get(),
                      &views_,   floor_.get(), &queue_, finisher_.get()};
  parts.frozen = [this] { checkpointer_->Notify(); };
  parts.waiting_bytes = [this] { return checkpointer_->WaitingBytes(); };
  parts.drain_rate = [this] { return checkpointer_->DrainRate(); };
  writer_ = std::make_unique<Writer>(std::move(parts), last, clock_bound);
}

ShardStoreImpl::~ShardStoreImpl() { Stop(); }

void ShardStoreImpl::Stop() {
  closed_ = true;
  if (checkpointer_ != nullptr) checkpointer_->Stop();
  const absl::Status closing = Error(ErrorCode::kInterruptedAtShutdown, "the shard has closed");
  for (std::unique_ptr<WriteOp>& op : queue_.Abort()) {
    queue_.Release(PendingBytesOf(*op));
    op->Finished(closing, latest());
  }
  if (writer_ != nullptr) writer_->Join();
  if (listener_ != nullptr) listener_->Set(nullptr);
  if (finisher_ != nullptr) finisher_->Abandon(closing);
}

ReadSlice ShardStoreImpl::Read() {
  absl::StatusOr<ReadSlice> slice = ReadSlice::Impl::Make(views_, lmdb_.get(), std::nullopt);
  EVENKEEL_CHECK(slice.ok());  // only a broken file has no reader to give
  return *std::move(slice);
}

absl::StatusOr<ReadSlice> ShardStoreImpl::ReadAt(Timestamp timestamp) {
  return ReadSlice::Impl::Make(views_, lmdb_.get(), timestamp);
}

void ShardStoreImpl::WhenReadable(Timestamp timestamp, std::function<void(absl::Status)> ready) {
  const Timestamp commit = floor_->Raise(timestamp);
  if (timestamp > finisher_->clock_bound()) queue_.RequestClockBound(timestamp);
  finisher_->WhenVisible(commit, timestamp, std::move(ready));
}

absl::StatusOr<std::unique_ptr<Snapshot>> ShardStoreImpl::OpenSnapshot(Timestamp timestamp) {
  return history_->Open(timestamp);
}

Timestamp ShardStoreImpl::ResolvedTimestamp() {
  // Nothing above the bound may be promised: after a restart the clock starts just above it.
  const Timestamp now = std::min(clock_->Now(), finisher_->clock_bound());
  const Timestamp commit = floor_->Raise(now);
  const Timestamp visible = latest();
  const Timestamp resolved = commit <= visible ? std::max(now, visible) : visible;
  uint64_t known = resolved_.load(std::memory_order_relaxed);
  while (known < resolved.bits && !resolved_.compare_exchange_weak(known, resolved.bits)) {
  }
  return Timestamp{std::max(known, resolved.bits)};
}

absl::Status ShardStoreImpl::Checkpoint() {
  if (closed_) return Error(ErrorCode::kShutdownInProgress, "the shard is closing");
  return checkpointer_->WaitFor(writer_->WaitForFreeze(queue_.RequestFreeze()));
}

absl::Status ShardStoreImpl::FinishRemovals() {
  EVENKEEL_RETURN_IF_ERROR(Checkpoint());
  return checkpointer_->FinishRemovals();
}

absl::Status ShardStoreImpl::Compact() {
  EVENKEEL_RETURN_IF_ERROR(Checkpoint());
  return checkpointer_->Compact();
}

absl::StatusOr<DocCheck> ShardStoreImpl::CheckDocs(std::string_view begin, std::string_view end) {
  DocCheck check;
  std::string from(begin);
  bool more = true;
  while (more) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader, lmdb_->BeginRead());
    const std::unique_ptr<CheckpointCursor> cursor = reader->NewCursor(DatabaseOf(Table::kDocs));
    more = false;
    size_t left = kDocsPerCheckSlice;
    for (cursor->Seek(from); cursor->Valid() && (end.empty() || cursor->key() < end);
         cursor->Next()) {
      if (left-- == 0) {
        from.assign(cursor->key());
        more = true;
        break;
      }
      ++check.checked;
      if (!DocValueIntact(cursor->value())) check.damaged_keys.emplace_back(cursor->key());
    }
  }
  return check;
}

absl::Status ShardStoreImpl::Close() {
  if (closed_.exchange(true)) return Error(ErrorCode::kShutdownInProgress, "the shard is closing");
  const uint64_t freeze = queue_.RequestFreeze();
  queue_.Close();
  const LogIndex last = writer_->WaitForFreeze(freeze);
  writer_->Join();
  finisher_->WaitUntilIdle();
  const absl::Status status = checkpointer_->WaitFor(last);
  Stop();
  return status;
}

StoreStats ShardStoreImpl::Stats() const {
  StoreStats stats;
  const std::shared_ptr<const View> view = views_.Current();
  stats.active_table_bytes = view->tables->entries.back().table->held_bytes();
  stats.frozen_table_bytes = checkpointer_->WaitingBytes();
  stats.history_bytes = history_->HeldBytes();
  stats.lmdb_bytes = lmdb_->SizeBytes();
  stats.pending_bytes = queue_.pending_bytes();
  stats.checkpoints = checkpointer_->count();
  stats.batches = writer_->batches();
  stats.operations = writer_->operations();
  stats.damaged_documents = checkpointer_->damaged();
  stats.checkpointed = checkpointer_->checkpointed();
  stats.latest = view->latest;
  return stats;
}

}  // namespace evenkeel::storage
