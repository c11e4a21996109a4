// A small file that is kept so that a checkpoint can go on when the disk is full (the log keeps its
// own reserve).
//
// Any thread may use it.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <string>

namespace evenkeel::storage {

class DiskReserve {
 public:
  // The file in `folder`; an empty folder or zero bytes: no reserve.
  DiskReserve(std::string folder, uint64_t bytes) : folder_(std::move(folder)), bytes_(bytes) {}

  // Makes the file if it is missing and the disk has room to spare. Failing is fine: it is tried
  // again later.
  void Restore();
  // Gives its space to the caller. False when there was none.
  bool Release();

 private:
  std::string Path() const { return folder_ + "/disk-reserve"; }

  const std::string folder_;
  const uint64_t bytes_;
  absl::Mutex mutex_;
};

}  // namespace evenkeel::storage
