// One LMDB file: its environment, its databases, and a pool of read transactions.
//
// Full sync, no writable map. Closed when the last reader and the store have let it go, so that a
// compacted file can take its place while readers finish on the old one.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <lmdb.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/lmdb/checkpoint_store.h"

namespace evenkeel::storage {

// The error of a failed LMDB call: OutOfDiskSpace when the disk or the map is full, UnknownError
// for a damaged file, OperationFailed for the rest; `where` names the call or the file.
absl::Status LmdbError(int code, std::string_view where);

inline MDB_val ToVal(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}
inline std::string_view ToView(const MDB_val& val) {
  return {static_cast<const char*>(val.mv_data), val.mv_size};
}

class LmdbFile {
 public:
  // Opens or makes the file. `map_bytes` bounds its size.
  // Errors: OperationFailed, UnknownError for a damaged file, OutOfDiskSpace; all name the path.
  static absl::StatusOr<std::shared_ptr<LmdbFile>> Open(const std::string& path,
                                                        uint64_t map_bytes);
  ~LmdbFile();
  LmdbFile(const LmdbFile&) = delete;
  LmdbFile& operator=(const LmdbFile&) = delete;

  // A read transaction of the newest state, from the pool; waits when all are in use.
  absl::StatusOr<MDB_txn*> TakeReader();
  void ReturnReader(MDB_txn* txn);

  MDB_env* env() const { return env_; }
  MDB_dbi database(size_t number) const { return databases_[number]; }
  const std::string& path() const { return path_; }
  uint64_t SizeBytes() const;

 private:
  LmdbFile(MDB_env* env, std::string path) : env_(env), path_(std::move(path)) {}
  absl::Status OpenDatabases();
  absl::Status CheckLength() const;
  // How many pages from `page` on are free. A damaged list ends it early.
  absl::StatusOr<uint64_t> CountFreeFrom(uint64_t page) const;

  MDB_env* const env_;
  const std::string path_;
  std::array<MDB_dbi, kDatabaseCount> databases_{};
  absl::Mutex mutex_;
  std::vector<MDB_txn*> idle_ ABSL_GUARDED_BY(mutex_);
  size_t in_use_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace evenkeel::storage
