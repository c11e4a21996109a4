// Implements opening an LMDB file and its pool of readers.
#include "storage/lmdb/lmdb_file.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/status.h"

namespace evenkeel::storage {
namespace {

constexpr unsigned kReadersMax = 1024;     // slots in LMDB's reader table
constexpr size_t kReadersInUseMax = 1000;  // the pool stays below it
constexpr const char* kDatabaseNames[kDatabaseCount] = {"docs",     "index",   "sessions", "meta",
                                                        "counters", "changes", "engine"};

// The log may take and give back a few segments at any time.
constexpr uint64_t kNearlyFullBytes = uint64_t{256} << 20;

bool IsNearlyFull(const std::string& path) {
  struct statvfs facts;
  return ::statvfs(path.c_str(), &facts) == 0 &&
         uint64_t{facts.f_bavail} * facts.f_frsize < kNearlyFullBytes;
}

}  // namespace

absl::Status LmdbError(int code, std::string_view where) {
  // LMDB calls it EIO when a write comes out short, as the last one does before a disk is full. Its
  // head page is written last, so what was there before is whole.
  if (code == EIO && IsNearlyFull(std::string(where))) code = ENOSPC;
  if (code == ENOSPC || code == EDQUOT || code == MDB_MAP_FULL) {
    return Error(ErrorCode::kOutOfDiskSpace, "{}: {}", where, mdb_strerror(code));
  }
  if (code == MDB_INVALID || code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND ||
      code == MDB_VERSION_MISMATCH || code == MDB_PANIC) {
    return Error(ErrorCode::kUnknownError, "{}: the file is damaged or not ours: {}", where,
                 mdb_strerror(code));
  }
  return Error(ErrorCode::kOperationFailed, "{}: {}", where, mdb_strerror(code));
}

absl::StatusOr<std::shared_ptr<LmdbFile>> LmdbFile::Open(const std::string& path,
                                                         uint64_t map_bytes) {
  MDB_env* env = nullptr;
  if (int code = mdb_env_create(&env); code != 0) return LmdbError(code, path);
  std::shared_ptr<LmdbFile> file(new LmdbFile(env, path));
  mdb_env_set_mapsize(env, map_bytes);
  mdb_env_set_maxdbs(env, kDatabaseCount);
  mdb_env_set_maxreaders(env, kReadersMax);
  // Read-ahead is off: with data larger than memory it fetches 128 KB for every page that is looked
  // up.
  const unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | MDB_NORDAHEAD;
  if (int code = mdb_env_open(env, path.c_str(), flags, 0600); code != 0) {
    return LmdbError(code, path);
  }
  EVENKEEL_RETURN_IF_ERROR(file->CheckLength());
  EVENKEEL_RETURN_IF_ERROR(file->OpenDatabases());
  return file;
}

// A file that was cut off would end the process with SIGBUS at the first read behind its end. But
// pages that a transaction took and gave back are never written: at the end of a whole file some
// may be missing, all of them free.
absl::Status LmdbFile::CheckLength() const {
  MDB_envinfo info;
  MDB_stat stat;
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &stat);
  struct stat facts;
  if (::stat(path_.c_str(), &facts) != 0) return LmdbError(errno, path_);
  const uint64_t pages = uint64_t{info.me_last_pgno} + 1, needed = pages * stat.ms_psize;
  if (static_cast<uint64_t>(facts.st_size) >= needed) return absl::OkStatus();
  // Made as long as it should be, so that its lists can be read whatever they point to.
  if (::truncate(path_.c_str(), static_cast<off_t>(needed)) != 0) return LmdbError(errno, path_);
  const uint64_t there = static_cast<uint64_t>(facts.st_size) / stat.ms_psize;
  EVENKEEL_ASSIGN_OR_RETURN(const uint64_t free, CountFreeFrom(there));
  if (free == pages - there) return absl::OkStatus();
  if (::truncate(path_.c_str(), facts.st_size) != 0) return LmdbError(errno, path_);
  return Error(ErrorCode::kUnknownError, "{} is damaged: {} bytes long, {} are in use", path_,
               facts.st_size, needed);
}

// LMDB's own list: database 0, lists of page numbers with their length in front.
absl::StatusOr<uint64_t> LmdbFile::CountFreeFrom(uint64_t page) const {
  constexpr MDB_dbi kFreePages = 0;
  MDB_txn* txn = nullptr;
  int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  if (code != 0) return LmdbError(code, path_);
  uint64_t count = 0;
  MDB_cursor* cursor = nullptr;
  code = mdb_cursor_open(txn, kFreePages, &cursor);
  MDB_val key, list;
  while (code == 0 && (code = mdb_cursor_get(cursor, &key, &list, MDB_NEXT)) == 0) {
    const auto* numbers = static_cast<const size_t*>(list.mv_data);
    const size_t length = std::min(numbers[0], list.mv_size / sizeof(size_t) - 1);
    count += std::count_if(numbers + 1, numbers + 1 + length,
                           [page](size_t number) { return number >= page; });
  }
  if (cursor != nullptr) mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  return count;
}

absl::Status LmdbFile::OpenDatabases() {
  MDB_txn* txn = nullptr;
  int code = mdb_txn_begin(env_, nullptr, 0, &txn);
  if (code != 0) return LmdbError(code, path_);
  for (size_t number = 0; number < kDatabaseCount && code == 0; ++number) {
    code = mdb_dbi_open(txn, kDatabaseNames[number], MDB_CREATE, &databases_[number]);
  }
  if (code != 0) {
    mdb_txn_abort(txn);
    return LmdbError(code, path_);
  }
  code = mdb_txn_commit(txn);
  return code == 0 ? absl::OkStatus() : LmdbError(code, path_);
}

LmdbFile::~LmdbFile() {
  for (MDB_txn* txn : idle_) mdb_txn_abort(txn);
  EVENKEEL_CHECK(in_use_ == 0);
  mdb_env_close(env_);
}

absl::StatusOr<MDB_txn*> LmdbFile::TakeReader() {
  MDB_txn* txn = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    const auto some_free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return in_use_ < kReadersInUseMax;
    };
    if (!some_free()) mutex_.Await(absl::Condition(&some_free));
    ++in_use_;
    if (!idle_.empty()) {
      txn = idle_.back();
      idle_.pop_back();
    }
  }
  const int code =
      txn != nullptr ? mdb_txn_renew(txn) : mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  if (code == 0) return txn;
  absl::MutexLock lock(&mutex_);
  --in_use_;
  if (txn != nullptr) idle_.push_back(txn);
  return LmdbError(code, path_);
}

void LmdbFile::ReturnReader(MDB_txn* txn) {
  mdb_txn_reset(txn);
  absl::MutexLock lock(&mutex_);
  --in_use_;
  idle_.push_back(txn);
}

uint64_t LmdbFile::SizeBytes() const {
  MDB_envinfo info;
  MDB_stat stat;
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &stat);
  return (uint64_t{info.me_last_pgno} + 1) * stat.ms_psize;
}

}  // namespace evenkeel::storage
