// Implements the operating system's file system over POSIX calls.
#include "storage/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

absl::Status FileError(int error, std::string_view what, const std::string& path) {
  ErrorCode code = ErrorCode::kOperationFailed;
  if (error == ENOSPC || error == EDQUOT) code = ErrorCode::kOutOfDiskSpace;
  if (error == EACCES || error == EPERM || error == EROFS) code = ErrorCode::kUnauthorized;
  return Error(code, "cannot {} {}: {}", what, path, std::generic_category().message(error));
}

// Runs a system call until it is not interrupted by a signal.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class PosixFile final : public File {
 public:
  PosixFile(int descriptor, std::string path, uint64_t size_bytes)
      : descriptor_(descriptor), path_(std::move(path)), size_bytes_(size_bytes) {}
  ~PosixFile() override { close(descriptor_); }

  absl::Status WriteAt(uint64_t offset, std::string_view bytes) override {
    uint64_t at = offset;
    while (!bytes.empty()) {
      const ssize_t written = Retry(
          [&] { return pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at)); });
      if (written < 0) return FileError(errno, "write to", path_);
      bytes.remove_prefix(static_cast<size_t>(written));
      at += static_cast<uint64_t>(written);
    }
    GrowTo(at);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ReadAt(uint64_t offset, size_t length) const override {
    const uint64_t size = SizeBytes();
    length = offset >= size ? 0 : static_cast<size_t>(std::min<uint64_t>(length, size - offset));
    std::string bytes(length, '\0');
    size_t done = 0;
    while (done < length) {
      const ssize_t got = Retry([&] {
        return pread(descriptor_, bytes.data() + done, length - done,
                     static_cast<off_t>(offset + done));
      });
      if (got < 0) return FileError(errno, "read from", path_);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

  absl::Status Sync() override {
    if (Retry([&] { return fdatasync(descriptor_); }) < 0) return FileError(errno, "sync", path_);
    return absl::OkStatus();
  }

  absl::Status Allocate(uint64_t bytes) override {
    if (bytes <= SizeBytes()) return absl::OkStatus();
    if (Retry([&] { return fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)); }) < 0) {
      if (errno != EOPNOTSUPP) return FileError(errno, "allocate space for", path_);
      return WriteZeros(SizeBytes(), bytes);
    }
    GrowTo(bytes);
    return absl::OkStatus();
  }

  uint64_t SizeBytes() const override { return size_bytes_.load(std::memory_order_acquire); }

 private:
  // For file systems that cannot allocate.
  absl::Status WriteZeros(uint64_t from, uint64_t to) {
    constexpr size_t kPieceBytes = 1u << 20;
    const std::string zeros(kPieceBytes, '\0');
    for (uint64_t at = from; at < to; at += kPieceBytes) {
      const auto length = static_cast<size_t>(std::min<uint64_t>(kPieceBytes, to - at));
      if (absl::Status status = WriteAt(at, std::string_view(zeros).substr(0, length));
          !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  void GrowTo(uint64_t size) {
    if (size > SizeBytes()) size_bytes_.store(size, std::memory_order_release);
  }

  const int descriptor_;
  const std::string path_;
  std::atomic<uint64_t> size_bytes_;
};

// A lock on a file of its own; the system drops it with the descriptor.
class PosixLock final : public FileLock {
 public:
  explicit PosixLock(int descriptor) : descriptor_(descriptor) {}
  ~PosixLock() override { close(descriptor_); }

 private:
  const int descriptor_;
};

class PosixFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, bool create) override {
    const int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0);
    const int descriptor = Retry([&] { return open(path.c_str(), flags, kFileMode); });
    if (descriptor < 0) return FileError(errno, "open", path);
    struct stat info {};
    if (fstat(descriptor, &info) < 0) {
      const int error = errno;
      close(descriptor);
      return FileError(error, "examine", path);
    }
    return std::make_unique<PosixFile>(descriptor, path, static_cast<uint64_t>(info.st_size));
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& folder) override {
    DIR* const directory = opendir(folder.c_str());
    if (directory == nullptr) return FileError(errno, "list", folder);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(directory)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    const int error = errno;
    closedir(directory);
    if (error != 0) return FileError(error, "list", folder);
    return names;
  }

  absl::Status CreateFolder(const std::string& folder) override {
    if (Exists(folder)) return absl::OkStatus();
    const std::string parent = ParentOf(folder);
    EVENKEEL_RETURN_IF_ERROR(CreateFolder(parent));
    if (mkdir(folder.c_str(), kFolderMode) < 0 && errno != EEXIST) {
      return FileError(errno, "create folder", folder);
    }
    return SyncFolder(parent);
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) < 0) return FileError(errno, "rename", from);
    return absl::OkStatus();
  }

  absl::Status Remove(const std::string& path) override {
    if (unlink(path.c_str()) < 0) return FileError(errno, "remove", path);
    return absl::OkStatus();
  }

  absl::Status SyncFolder(const std::string& folder) override {
    const int descriptor =
        Retry([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (descriptor < 0) return FileError(errno, "open folder", folder);
    const int result = Retry([&] { return fsync(descriptor); });
    const int error = errno;
    close(descriptor);
    if (result < 0) return FileError(error, "sync folder", folder);
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> FreeBytes(const std::string& folder) override {
    struct statvfs info {};
    if (Retry([&] { return statvfs(folder.c_str(), &info); }) < 0) {
      return FileError(errno, "examine the disk of", folder);
    }
    return uint64_t{info.f_bavail} * info.f_frsize;
  }

  bool Exists(const std::string& path) override { return access(path.c_str(), F_OK) == 0; }

  absl::StatusOr<std::unique_ptr<FileLock>> LockFolder(const std::string& folder) override {
    const std::string path = folder + "/lock";
    const int descriptor =
        Retry([&] { return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode); });
    if (descriptor < 0) return FileError(errno, "open", path);
    auto lock = std::make_unique<PosixLock>(descriptor);
    if (Retry([&] { return flock(descriptor, LOCK_EX | LOCK_NB); }) < 0) {
      if (errno != EWOULDBLOCK) return FileError(errno, "lock", path);
      return Error(ErrorCode::kOperationFailed, "{} is in use by another process", folder);
    }
    return lock;
  }

 private:
  // The folder around `path`: "." for a plain name, "/" for one below the root.
  static std::string ParentOf(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
  }
};

}  // namespace

FileSystem* FileSystem::System() {
  static PosixFileSystem* const system = new PosixFileSystem();
  return system;
}

}  // namespace evenkeel::storage
