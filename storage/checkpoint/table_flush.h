// Writes one frozen memory table to LMDB: the newest version of each key, in key order, in bounded
// transactions.
//
// What a key held before is hung on its node first, for snapshots. Only the last transaction moves
// the log position, with the counters and the dead ranges of the table: a crash in between is
// healed by replay, which repeats what was written. Checkpoint thread.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <memory>

#include "storage/checkpoint/engine_state.h"
#include "storage/lmdb/checkpoint_store.h"
#include "storage/memory/mem_table.h"
#include "storage/store.h"

namespace evenkeel::storage {

class TableFlush {
 public:
  struct Progress {
    uint64_t keys_done = 0;
    uint64_t keys_total = 0;
  };
  // Called between two transactions: waits as long as the pace wants. False: give up (the store
  // closes).
  using Pace = std::function<bool(const Progress&)>;

  // `dirty_pages_max` is asked before each transaction's end. All outlive the flush.
  TableFlush(MemTable* table, CheckpointStore* lmdb, const StoreOptions* options,
             std::function<size_t()> dirty_pages_max, Pace pace);

  // `position` is where LMDB will be.
  // Errors: those of the store; ShutdownInProgress when the pace gave up. It may be run again from
  // the start.
  absl::Status Run(const CheckpointPosition& position);

  // Documents whose old value had a wrong checksum.
  uint64_t damaged() const { return damaged_; }

 private:
  absl::Status WriteTable(Table table);
  absl::Status WriteKey(Table table, SkipNode* node);
  void Hang(Table table, SkipNode* node, std::optional<std::string_view> old);
  absl::Status PutVersion(Table table, std::string_view key, const Version& version);
  absl::Status WriteLast(const CheckpointPosition& position);
  absl::Status Commit();

  MemTable* const table_;
  CheckpointStore* const lmdb_;
  const StoreOptions* const options_;
  const std::function<size_t()> dirty_pages_max_;
  const Pace pace_;
  std::unique_ptr<CheckpointWriter> writer_;
  Progress progress_;
  uint64_t damaged_ = 0;
};

}  // namespace evenkeel::storage
