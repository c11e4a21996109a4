// The file system as the log sees it: an interface, so that tests can lose power.
//
// Any thread may use a FileSystem. Errors: OutOfDiskSpace when the disk or a quota is full,
// Unauthorized when access is refused, OperationFailed otherwise; all name the path.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::storage {

// One open file. WriteAt and Sync are called by one thread at a time; ReadAt by any.
class File {
 public:
  virtual ~File() = default;
  virtual absl::Status WriteAt(uint64_t offset, std::string_view bytes) = 0;
  // Reads up to `length` bytes; fewer at the end of the file.
  virtual absl::StatusOr<std::string> ReadAt(uint64_t offset, size_t length) const = 0;
  // fdatasync: what was written survives power loss when this returns OK. After an error nothing is
  // known about what was written since the last success, and a later success says nothing about it
  // either.
  virtual absl::Status Sync() = 0;
  // Makes the file at least `bytes` long, new space zeroed and allocated. Errors: OutOfDiskSpace.
  virtual absl::Status Allocate(uint64_t bytes) = 0;
  virtual uint64_t SizeBytes() const = 0;
};

// A folder that is kept from others until this is destroyed, or the process ends in whatever way.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // The operating system's; lives for ever.
  static FileSystem* System();

  // Opens for reading and writing. Errors: OperationFailed when it does not exist and `create` is
  // false.
  virtual absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, bool create) = 0;
  // The names (not paths) of the files in `folder`, in no order.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& folder) = 0;
  // With parents, durably; fine if it exists.
  virtual absl::Status CreateFolder(const std::string& folder) = 0;
  // Replaces `to` if it exists.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // Open files of that path stay usable.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Makes creations, renames and removals in `folder` durable.
  virtual absl::Status SyncFolder(const std::string& folder) = 0;
  virtual absl::StatusOr<uint64_t> FreeBytes(const std::string& folder) = 0;
  virtual bool Exists(const std::string& path) = 0;
  // Keeps every other process, and every other user in this one, from locking `folder`.
  // Errors: OperationFailed naming the folder when it is locked already.
  // A file system that has no locks gives one that keeps nobody away.
  virtual absl::StatusOr<std::unique_ptr<FileLock>> LockFolder(const std::string& /*folder*/) {
    return std::make_unique<FileLock>();
  }
};

}  // namespace evenkeel::storage
