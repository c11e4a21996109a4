// Implements the reserve.
#include "storage/disk_reserve.h"

#include <memory>

#include "base/log.h"
#include "storage/file.h"

namespace evenkeel::storage {
namespace {

constexpr uint64_t kFreeTimesMin =
    4;  // restored only when the disk has this many times its size left

}  // namespace

void DiskReserve::Restore() {
  if (bytes_ == 0 || folder_.empty()) return;
  absl::MutexLock lock(&mutex_);
  FileSystem* files = FileSystem::System();
  if (files->Exists(Path())) return;
  const auto free_bytes = files->FreeBytes(folder_);
  if (!free_bytes.ok() || *free_bytes < kFreeTimesMin * bytes_) return;
  auto file = files->Open(Path(), true);
  absl::Status status = file.ok() ? (*file)->Allocate(bytes_) : file.status();
  if (!status.ok()) base::LogWarning("storage", "cannot keep a disk reserve", {{"error", status}});
}

bool DiskReserve::Release() {
  if (bytes_ == 0 || folder_.empty()) return false;
  absl::MutexLock lock(&mutex_);
  FileSystem* files = FileSystem::System();
  if (!files->Exists(Path())) return false;
  base::LogWarning("storage", "the disk is full: giving up the reserve", {{"folder", folder_}});
  return files->Remove(Path()).ok();
}

}  // namespace evenkeel::storage
