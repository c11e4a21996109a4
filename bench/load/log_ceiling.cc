// Implements the raw log loop.
#include "bench/load/log_ceiling.h"

#include <absl/time/clock.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/random.h"
#include "base/status.h"

namespace evenkeel::bench {
namespace {

constexpr int64_t kSegmentBytes = 64 << 20;

// A file that is closed and removed with its scope.
class ScratchFile {
 public:
  explicit ScratchFile(std::string path)
      : path_(std::move(path)),
        fd_(open(path_.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600)) {}
  ~ScratchFile() {
    if (fd_ >= 0) close(fd_);
    unlink(path_.c_str());
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int fd() const { return fd_; }
  absl::Status Failure(std::string_view step) const {
    return Error(ErrorCode::kOperationFailed, "{} of {}: {}", step, path_, std::strerror(errno));
  }

 private:
  const std::string path_;
  const int fd_;
};

absl::Status WriteAt(const ScratchFile& file, std::string_view bytes, int64_t offset) {
  const ssize_t written = pwrite(file.fd(), bytes.data(), bytes.size(), offset);
  if (written != static_cast<ssize_t>(bytes.size())) return file.Failure("write");
  return absl::OkStatus();
}

absl::Status Sync(const ScratchFile& file) {
  return fdatasync(file.fd()) == 0 ? absl::OkStatus() : file.Failure("sync");
}

absl::Status FillWithZeros(const ScratchFile& file) {
  const std::string zeros(1 << 20, '\0');
  for (int64_t at = 0; at < kSegmentBytes; at += static_cast<int64_t>(zeros.size())) {
    EVENKEEL_RETURN_IF_ERROR(WriteAt(file, zeros, at));
  }
  return Sync(file);
}

}  // namespace

absl::StatusOr<LogCeiling> MeasureLogCeiling(const LogCeilingSpec& spec) {
  const ScratchFile file(spec.folder + "/log_ceiling.tmp");
  if (file.fd() < 0) return file.Failure("open");
  EVENKEEL_RETURN_IF_ERROR(FillWithZeros(file));
  base::Random random(1);
  const std::string group =
      random.Bytes(static_cast<size_t>(spec.record_bytes) * static_cast<size_t>(spec.group_count));
  const auto group_bytes = static_cast<int64_t>(group.size());
  const absl::Time start = absl::Now();
  int64_t group_count = 0;
  int64_t at = 0;
  while (absl::Now() < start + spec.duration) {
    EVENKEEL_RETURN_IF_ERROR(WriteAt(file, group, at));
    EVENKEEL_RETURN_IF_ERROR(Sync(file));
    ++group_count;
    at += group_bytes;
    if (at + group_bytes > kSegmentBytes) at = 0;
  }
  const absl::Duration elapsed = absl::Now() - start;
  const double records = static_cast<double>(group_count) * spec.group_count;
  return LogCeiling{.records_per_second = records / absl::ToDoubleSeconds(elapsed),
                    .group_mean = elapsed / std::max<int64_t>(1, group_count)};
}

}  // namespace evenkeel::bench
