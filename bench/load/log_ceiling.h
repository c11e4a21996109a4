// The second ceiling: what a write-ahead log alone could do on this disk.
//
// Writes records in groups into a file whose blocks exist already, one pwrite and one fdatasync per
// group, as a log with group commit does in a recycled segment.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <string>

namespace evenkeel::bench {

struct LogCeilingSpec {
  std::string folder;  // on the disk of the server's data; a file is made there and removed
  int record_bytes = 1024;
  int group_count = 64;  // records per sync
  absl::Duration duration = absl::Seconds(5);
};

struct LogCeiling {
  double records_per_second = 0;
  absl::Duration group_mean;  // time of one write and sync
};

// Errors: OperationFailed naming the step and the folder when the file cannot be made, written or
// synced.
absl::StatusOr<LogCeiling> MeasureLogCeiling(const LogCeilingSpec& spec);

}  // namespace evenkeel::bench
