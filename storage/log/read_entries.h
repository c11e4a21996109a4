// Reads entries of one shard from segments. Any thread; holds no lock.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <vector>

#include "base/types.h"
#include "storage/log/log.h"
#include "storage/log/segment_list.h"

namespace evenkeel::storage {

// The entries from `from` to `to` of `shard`, in order, up to `bytes_max` of payload but at least
// one.
//
// plan     of the segment list; covers `from`.
// Errors   UnknownError when a record on the way is damaged, naming file and offset; those of the
//          file system.
// Requires that the entries up to `to` are durable.
absl::StatusOr<std::vector<LogEntry>> ReadLogEntries(const std::vector<LogReadPart>& plan,
                                                     ShardId shard, LogIndex from, LogIndex to,
                                                     size_t bytes_max);

}  // namespace evenkeel::storage
