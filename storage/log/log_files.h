// The files in the log's folder: segments made ready, given up, used again, and the ballast.
//
//   log-0000000012   segment 12; its space, header and name are durable before it is used
//   spare-0000000003 a file that is becoming a segment or was one
//   ballast          space that is given back when the disk is full, so that deletes can go on
//
// Used by one thread at a time (SharedLog holds a lock around it); every call may wait for the
// disk.
//
// Invariants
//   I1  Segment files are numbered without gaps at any moment, after power loss too: each step is
//       made durable before the next.
//   I2  A file is a segment's only under that segment's name; its header is rewritten only while it
//       is a spare.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/file.h"
#include "storage/log/segment.h"

namespace evenkeel::storage {

std::string LogSegmentName(uint64_t number);
// The number in a segment's file name; nothing for other names.
std::optional<uint64_t> ParseLogSegmentName(std::string_view name);

struct LogFilesOptions {
  FileSystem* file_system = nullptr;
  std::string folder;
  uint64_t segment_bytes = 0;
  uint64_t ballast_bytes = 0;
  size_t spare_count_max = 4;
  std::function<uint64_t()> new_salt;
};

class LogFiles {
 public:
  explicit LogFiles(LogFilesOptions options) : options_(std::move(options)) {}

  // Finds the spares and the ballast; removes spares that cannot be used. The folder exists.
  absl::Status Open();

  // Makes segment `number`, from a spare if there is one. `zeroed`: its space is written once, so
  // that later syncs have no allocation to record (a third faster); costs as much writing as the
  // segment is long.
  // Errors: OutOfDiskSpace; nothing is left behind then.
  absl::StatusOr<std::shared_ptr<LogSegment>> Prepare(uint64_t number, bool zeroed);

  // Takes the oldest segment out of the log: it becomes a spare, or is removed if there are enough
  // or somebody reads it.
  absl::Status Retire(std::shared_ptr<LogSegment> segment);

  bool has_ballast() const { return has_ballast_; }
  absl::Status ReleaseBallast();
  // Errors: OutOfDiskSpace.
  absl::Status RestoreBallast();
  absl::StatusOr<uint64_t> FreeBytes() const;
  size_t spare_count() const { return spares_.size(); }

 private:
  std::string Path(std::string_view name) const;
  absl::Status RemoveFile(const std::string& name);
  absl::StatusOr<std::string> MakeSpare(bool zeroed);
  absl::Status FillSpare(const std::string& name, bool zeroed);
  std::string NewSpareName();

  const LogFilesOptions options_;
  std::vector<std::string> spares_;  // names
  uint64_t next_spare_ = 0;
  bool has_ballast_ = false;
};

}  // namespace evenkeel::storage
