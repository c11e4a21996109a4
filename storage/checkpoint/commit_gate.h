// Lets one shard of the process commit to LMDB at a time: two bursts of page writes at once would
// hold up the log's syncs twice as long and be no faster.
#pragma once

#include <absl/status/status.h>

#include "storage/lmdb/checkpoint_store.h"

namespace evenkeel::storage {

// Commits while no other checkpoint thread does. Any thread. Errors: those of Commit.
absl::Status CommitAlone(CheckpointWriter* writer);

}  // namespace evenkeel::storage
