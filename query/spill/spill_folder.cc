// Making the folder and the files in it.
#include "query/spill/spill_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/status.h"
#include "query/spill/spill_file.h"

namespace evenkeel::query {
namespace {

constexpr std::string_view kSuffix = ".spill";

}  // namespace

absl::StatusOr<std::shared_ptr<SpillFolder>> SpillFolder::Open(std::string path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return Error(ErrorCode::kOperationFailed, "cannot make the folder {}: {}", path,
                 error.message());
  }
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() == kSuffix) std::filesystem::remove(entry.path(), error);
  }
  if (error) {
    return Error(ErrorCode::kOperationFailed, "cannot clear the folder {}: {}", path,
                 error.message());
  }
  return std::shared_ptr<SpillFolder>(new SpillFolder(std::move(path)));
}

absl::StatusOr<std::unique_ptr<SpillFile>> SpillFolder::NewFile() {
  const uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  const std::string name = path_ + "/" + std::to_string(::getpid()) + "-" + std::to_string(number) +
                           std::string(kSuffix);
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    const ErrorCode code =
        errno == ENOSPC ? ErrorCode::kOutOfDiskSpace : ErrorCode::kOperationFailed;
    return Error(code, "cannot make a file in {}: {}", path_, std::strerror(errno));
  }
  ::unlink(name.c_str());
  return std::make_unique<SpillFile>(shared_from_this(), descriptor);
}

}  // namespace evenkeel::query
