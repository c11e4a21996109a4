// Recovery: builds memory tables from the log entries behind LMDB's position.
#pragma once

#include <absl/status/statusor.h>

#include <functional>

#include "base/types.h"
#include "storage/log/log.h"
#include "storage/read/view_publisher.h"

namespace evenkeel::storage {

struct Replayed {
  LogIndex last;          // the newest entry
  Timestamp latest;       // the highest commit timestamp found
  Timestamp clock_bound;  // the highest bound found
};

// Applies the committed entries behind `from` to the views' newest table, adding tables as they
// fill up, and publishes them.
//
// `full`: called after a table was added; it may wait for the checkpoint.
// Errors: UnknownError when the log does not continue where LMDB ends or holds a damaged entry;
// those of the log.
absl::StatusOr<Replayed> ReplayLog(ShardLog* log, LogIndex from, size_t table_bytes_max,
                                   ViewPublisher* views, const std::function<absl::Status()>& full);

}  // namespace evenkeel::storage
