// Removes dead ranges from LMDB in small steps, documents together with their index entries.
// Checkpoint thread.
//
// A step is one transaction; what is left is found again by its key, so it goes on after a restart.
// Of a range with hashes the documents with other hashes stay: they are met in the buckets at its
// two ends only. No history is kept of what is removed: it begins only when no open snapshot can
// see the range.
#pragma once

#include <absl/status/statusor.h>

#include "storage/checkpoint/engine_state.h"
#include "storage/lmdb/checkpoint_store.h"
#include "storage/store.h"

namespace evenkeel::storage {

inline constexpr size_t kRemovalKeysPerStep = 2000;

// One step, up to `keys_max` keys or `dirty_pages_max` pages; the removal begins behind them then.
// True when nothing is left; the row of the removal is gone then too. Errors: those of the store;
// nothing was done.
absl::StatusOr<bool> RemoveSome(CheckpointStore* store, const StoreOptions& options,
                                PendingRemoval* removal, size_t keys_max, size_t dirty_pages_max);

}  // namespace evenkeel::storage
