// The store of one shard: recovery, and the parts put together (storage/store.h is what others
// use).
#pragma once

#include <memory>

#include "storage/checkpoint/checkpointer.h"
#include "storage/checkpoint/history.h"
#include "storage/disk_reserve.h"
#include "storage/lmdb/checkpoint_store.h"
#include "storage/read/view_publisher.h"
#include "storage/store.h"
#include "storage/write/finisher.h"
#include "storage/write/read_floor.h"
#include "storage/write/write_queue.h"
#include "storage/write/writer.h"

namespace evenkeel::storage {

class ShardStoreImpl final : public ShardStore {
 public:
  // The log and the clock outlive the store.
  ShardStoreImpl(const StoreOptions& options, ShardLog* log, base::HybridClock* clock,
                 std::shared_ptr<CheckpointStore> lmdb);
  // Ends at once: what is not durable yet gets an unknown outcome.
  ~ShardStoreImpl() override;

  // Reads LMDB's position, replays the log behind it, starts the threads. Called once, before
  // anything else.
  absl::Status Start();
  // The same without threads, for tests that go step by step: RunQueued executes what was
  // submitted, and nothing is checkpointed.
  absl::Status StartStepped();
  bool RunQueued() { return writer_->RunQueued(); }

  absl::Status Submit(std::unique_ptr<WriteOp> op) override { return queue_.Submit(std::move(op)); }
  ReadSlice Read() override;
  std::shared_ptr<const PublishedState> State() const override { return views_.Current()->state; }
  absl::StatusOr<ReadSlice> ReadAt(Timestamp timestamp) override;
  void WhenReadable(Timestamp timestamp, std::function<void(absl::Status)> ready) override;
  absl::StatusOr<std::unique_ptr<Snapshot>> OpenSnapshot(Timestamp timestamp) override;
  Timestamp latest() const override { return views_.Current()->latest; }
  Timestamp ResolvedTimestamp() override;
  absl::Status Checkpoint() override;
  absl::Status FinishRemovals() override;
  absl::Status Compact() override;
  absl::StatusOr<DocCheck> CheckDocs(std::string_view begin, std::string_view end) override;
  absl::Status Close() override;
  StoreStats Stats() const override;

 private:
  // Lets the log thread call the finisher until the store ends, however long the log keeps the
  // listener.
  struct LogListener;

  absl::StatusOr<CheckpointPosition> OpenCheckpoints();
  absl::Status Recover(const CheckpointPosition& position);
  void StartWriting(LogIndex last, Timestamp clock_bound);
  void Stop();

  const StoreOptions options_;
  ShardLog* const log_;
  base::HybridClock* const clock_;
  const std::shared_ptr<CheckpointStore> lmdb_;
  ViewPublisher views_;
  WriteQueue queue_;
  DiskReserve reserve_;
  std::shared_ptr<History> history_;
  std::shared_ptr<LogListener> listener_;
  std::unique_ptr<ReadFloor> floor_;
  std::unique_ptr<Finisher> finisher_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<Writer> writer_;
  std::atomic<uint64_t> resolved_{0};  // never reported less
  std::atomic<bool> closed_{false};
};

}  // namespace evenkeel::storage
