// Implements the checkpoint store on LMDB: generations of files, and compaction.
#include "storage/lmdb/lmdb_store.h"

#include <absl/synchronization/mutex.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "storage/file.h"
#include "storage/lmdb/folder_lock.h"
#include "storage/lmdb/lmdb_file.h"
#include "storage/lmdb/lmdb_reader.h"
#include "storage/lmdb/lmdb_writer.h"

namespace evenkeel::storage {
namespace {

constexpr std::string_view kPrefix = "data-";
constexpr std::string_view kSuffix = ".mdb";
constexpr std::string_view kCopyName = "compact.tmp";

std::string NameOf(uint64_t generation) {
  return fmt::format("{}{:06}{}", kPrefix, generation, kSuffix);
}

// The generation in a file's name, or 0 for other files.
uint64_t GenerationOf(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  return std::strtoull(std::string(name.substr(kPrefix.size())).c_str(), nullptr, 10);
}

absl::Status SyncFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return LmdbError(errno, path);
  const int code = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  return code == 0 ? absl::OkStatus() : LmdbError(code, path);
}

class LmdbStore final : public CheckpointStore {
 public:
  LmdbStore(std::string folder, uint64_t map_bytes, std::unique_ptr<FolderLock> lock)
      : folder_(std::move(folder)), map_bytes_(map_bytes), lock_(std::move(lock)) {}

  // Picks the newest generation and removes what a crash during compact has left.
  absl::Status Start() {
    FileSystem* files = FileSystem::System();
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files->List(folder_));
    for (const std::string& name : names) generation_ = std::max(generation_, GenerationOf(name));
    const bool is_new = generation_ == 0;
    if (is_new) generation_ = 1;
    EVENKEEL_ASSIGN_OR_RETURN(file_, LmdbFile::Open(PathOf(NameOf(generation_)), map_bytes_));
    if (is_new) EVENKEEL_RETURN_IF_ERROR(files->SyncFolder(folder_));
    for (const std::string& name : names) {
      const std::string current = NameOf(generation_);
      const bool stale = name.starts_with(kPrefix) && !name.starts_with(current);
      if (stale || name.starts_with(kCopyName)) {
        EVENKEEL_RETURN_IF_ERROR(files->Remove(PathOf(name)));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<CheckpointReader>> BeginRead() override {
    std::shared_ptr<LmdbFile> file = Current();
    EVENKEEL_ASSIGN_OR_RETURN(MDB_txn* const txn, file->TakeReader());
    return std::make_unique<LmdbReader>(std::move(file), txn);
  }
  absl::StatusOr<std::unique_ptr<CheckpointWriter>> BeginWrite() override {
    return LmdbWriter::Begin(Current());
  }
  uint64_t SizeBytes() const override { return Current()->SizeBytes(); }

  absl::Status Compact() override {
    FileSystem* files = FileSystem::System();
    const std::string copy = PathOf(kCopyName);
    if (files->Exists(copy)) EVENKEEL_RETURN_IF_ERROR(files->Remove(copy));
    absl::Status status = CopyAndSwap(copy);
    if (!status.ok() && files->Exists(copy)) {
      if (const absl::Status removed = files->Remove(copy); !removed.ok()) {
        base::LogWarning("storage", "cannot remove an unfinished copy", {{"error", removed}});
      }
    }
    return status;
  }

 private:
  std::string PathOf(std::string_view name) const { return fmt::format("{}/{}", folder_, name); }
  std::shared_ptr<LmdbFile> Current() const {
    absl::MutexLock lock(&mutex_);
    return file_;
  }

  absl::Status CopyAndSwap(const std::string& copy) {
    FileSystem* files = FileSystem::System();
    std::shared_ptr<LmdbFile> old = Current();
    if (int code = mdb_env_copy2(old->env(), copy.c_str(), MDB_CP_COMPACT); code != 0) {
      return LmdbError(code, copy);
    }
    EVENKEEL_RETURN_IF_ERROR(SyncFile(copy));
    if (EVENKEEL_FAIL_POINT(storage_compact_before_swap)) {
      return Error(ErrorCode::kOperationFailed, "fail point");
    }
    const std::string path = PathOf(NameOf(generation_ + 1));
    EVENKEEL_RETURN_IF_ERROR(files->Rename(copy, path));
    auto opened = LmdbFile::Open(path, map_bytes_);
    const absl::Status status = opened.ok() ? files->SyncFolder(folder_) : opened.status();
    if (!status.ok()) {
      // The next start must not take the copy: the old file goes on changing.
      base::LogError("storage", "cannot use a compacted copy", {{"error", status}});
      EVENKEEL_CHECK(files->Remove(path).ok() && files->SyncFolder(folder_).ok());
      return status;
    }
    ++generation_;
    {
      absl::MutexLock lock(&mutex_);
      file_ = *std::move(opened);
    }
    // Readers that still use the old file keep it open; its name can go now.
    for (const std::string& name : {old->path(), old->path() + "-lock"}) {
      if (files->Exists(name)) EVENKEEL_RETURN_IF_ERROR(files->Remove(name));
    }
    return files->SyncFolder(folder_);
  }

  const std::string folder_;
  const uint64_t map_bytes_;
  const std::unique_ptr<FolderLock> lock_;
  uint64_t generation_ = 0;  // the checkpoint thread's, after Start
  mutable absl::Mutex mutex_;
  std::shared_ptr<LmdbFile> file_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointStore>> OpenLmdbStore(const std::string& folder,
                                                               uint64_t map_bytes) {
  EVENKEEL_RETURN_IF_ERROR(FileSystem::System()->CreateFolder(folder));
  EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<FolderLock> lock, FolderLock::Take(folder));
  auto store = std::make_unique<LmdbStore>(folder, map_bytes, std::move(lock));
  EVENKEEL_RETURN_IF_ERROR(store->Start());
  return store;
}

}  // namespace evenkeel::storage
