// The folder where blocking operators put what memory does not hold.
//
// Its files have no names once they are open, so they end with the operator that made them, or with
// the process, in whatever way. Any thread.
//
// Limits   a file is not written to when the disk would keep less than free_bytes_min.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace evenkeel::query {

class SpillFile;  // query/spill/spill_file.h

class SpillFolder : public std::enable_shared_from_this<SpillFolder> {
 public:
  static constexpr int64_t kFreeBytesMin = 500 << 20;  // MongoDB's default

  // Makes the folder if it is missing and removes what a crash has left in it. Errors:
  // OperationFailed naming the path.
  static absl::StatusOr<std::shared_ptr<SpillFolder>> Open(std::string path);
  SpillFolder(const SpillFolder&) = delete;
  SpillFolder& operator=(const SpillFolder&) = delete;

  // A new empty file. Errors: OutOfDiskSpace, OperationFailed.
  absl::StatusOr<std::unique_ptr<SpillFile>> NewFile();

  const std::string& path() const { return path_; }
  // What other users of the disk are to keep.
  int64_t free_bytes_min() const { return free_bytes_min_.load(std::memory_order_relaxed); }
  void SetFreeBytesMin(int64_t bytes) { free_bytes_min_.store(bytes, std::memory_order_relaxed); }

  // Files made so far; files open now, and the bytes in them.
  uint64_t made_count() const { return next_.load(std::memory_order_relaxed); }
  int64_t file_count() const { return file_count_.load(std::memory_order_relaxed); }
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class SpillFile;
  explicit SpillFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  std::atomic<uint64_t> next_{0};  // number of the next file
  std::atomic<int64_t> free_bytes_min_{kFreeBytesMin};
  std::atomic<int64_t> file_count_{0};
  std::atomic<int64_t> bytes_{0};
};

}  // namespace evenkeel::query
