// What the engine keeps about itself in LMDB: format, log position, clock bound, ranges that wait
// for removal.
//
// Written in the transaction that makes it true. Format: docs/data_layout.md.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "storage/lmdb/checkpoint_store.h"
#include "storage/memory/mem_table.h"

namespace evenkeel::storage {

inline constexpr uint32_t kEngineFormat = 3;

// How far LMDB has come.
struct CheckpointPosition {
  LogIndex index;         // every batch up to it is in LMDB
  Timestamp latest;       // the highest commit timestamp of those batches
  Timestamp clock_bound;  // the highest bound logged by them
};

// A dead range with the key of its row, which is removed with the last key of the range.
struct PendingRemoval {
  std::string row;
  DeadRange range;
};

struct EngineState {
  CheckpointPosition position;
  std::vector<PendingRemoval> removals;  // oldest first
};

// Reads the state; a new store gets its format row and an empty state.
// Errors: those of the store; OperationFailed for another format; UnknownError for damaged rows.
absl::StatusOr<EngineState> LoadEngineState(CheckpointStore* store);

absl::Status PutPosition(CheckpointWriter* writer, const CheckpointPosition& position);
// The rows of a table's dead ranges, `last_index` being the table's last batch.
std::vector<PendingRemoval> RemovalsOf(const MemTable& table);
absl::Status PutRemoval(CheckpointWriter* writer, const PendingRemoval& removal);

}  // namespace evenkeel::storage
