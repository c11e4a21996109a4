// Finds the end of the log after a stop of any kind, and makes the log ready to go on behind it.
//
// Runs once, before any other use of the log. A damaged record is the torn end of the last write if
// no later record claims that the log was durable beyond it; otherwise something that was
// acknowledged is gone, and recovery refuses.
//
// Invariants
//   I1  Every record before the end is whole, numbered without gaps, and on the disk when recovery
//       returns: what no record claims to be durable is written again, since a sync that failed may
//       have left it in memory only.
//   I2  Whole records behind the end (of a torn write) are wiped, durably, so that they cannot come
//       back.
//
// Design: docs/storage.md.
#pragma once

#include <absl/status/statusor.h>

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/types.h"
#include "storage/file.h"
#include "storage/log/record.h"
#include "storage/log/segment.h"

namespace evenkeel::storage {

struct RecoveredLog {
  std::deque<std::shared_ptr<LogSegment>> segments;  // oldest first; the last one is written on
  std::deque<std::shared_ptr<LogSegment>> ready;     // made ready behind them, nothing in them
  LogPosition end;                                   // where the next record goes
  bool closed = false;                               // the last record is a closing record
  std::map<ShardId, LogIndex> last;                  // the last entry of every shard ever seen
};

// Recovers the log in `folder`; no segments for a folder without any.
//
// Errors   UnknownError for a damaged or missing file, naming file and offset; InvalidOptions for
//          another format; those of the file system.
absl::StatusOr<RecoveredLog> RecoverLog(FileSystem* file_system, const std::string& folder);

}  // namespace evenkeel::storage
