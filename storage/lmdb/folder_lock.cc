// Implements the folder lock with flock, which also works between two opens of one process.
#include "storage/lmdb/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/status.h"

namespace evenkeel::storage {

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(const std::string& folder) {
  const std::string path = folder + "/in-use";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Error(ErrorCode::kOperationFailed, "cannot open {}: {}", path, std::strerror(errno));
  }
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(descriptor);
    if (error == EWOULDBLOCK) {
      return Error(ErrorCode::kOperationFailed, "{} is in use by another store or process", folder);
    }
    return Error(ErrorCode::kOperationFailed, "cannot lock {}: {}", path, std::strerror(error));
  }
  return std::unique_ptr<FolderLock>(new FolderLock(descriptor));
}

FolderLock::~FolderLock() { close(descriptor_); }

}  // namespace evenkeel::storage
