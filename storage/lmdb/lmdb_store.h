// The checkpoint store on LMDB: one file per shard in a folder of its own.
//
// Files are called data-<generation>.mdb; compact writes the next generation and then removes the
// old one, so a crash at any moment leaves one complete file with the highest generation.
#pragma once

#include <memory>
#include <string>

#include "storage/lmdb/checkpoint_store.h"

namespace evenkeel::storage {

// Opens the store in `folder`, which is made if it is missing, and keeps other processes out.
// Errors: OperationFailed, UnknownError for a damaged file, OutOfDiskSpace; all name the path.
absl::StatusOr<std::unique_ptr<CheckpointStore>> OpenLmdbStore(const std::string& folder,
                                                               uint64_t map_bytes);

}  // namespace evenkeel::storage
