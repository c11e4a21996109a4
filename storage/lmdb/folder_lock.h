// Keeps two processes, or two stores of one process, from opening the same folder.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>

namespace evenkeel::storage {

// Held until destruction; the system drops it when the process ends in whatever way.
class FolderLock {
 public:
  // Errors: OperationFailed naming the folder, when it is in use or cannot be written.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

}  // namespace evenkeel::storage
