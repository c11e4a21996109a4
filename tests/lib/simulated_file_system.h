// A file system in memory that loses power: what was not synced is dropped, torn and reordered,
// chosen by a seed.
//
// Model: a disk writes sectors of 512 bytes whole or not at all. Of every sector written since the
// last sync, any version from the durable one to the newest may be the one that survives; of
// creations, renames and removals that no SyncFolder has made durable, any subset. Folders exist as
// soon as they are named. Any thread may use it.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "storage/file.h"

namespace evenkeel::tests {

class SimulatedFileSystem final : public storage::FileSystem {
 public:
  explicit SimulatedFileSystem(uint64_t seed) : random_(seed) {}
  ~SimulatedFileSystem() override;

  // Faults.

  // The `count`th changing operation from now on happens only in part, and every operation after it
  // fails.
  void StopAfter(uint64_t count);
  bool stopped() const;
  // Starts again after power loss. Files opened before fail from now on.
  void CutPower();
  // Starts again after the end of the process: everything written is still there.
  void RestartProcess();
  // The next Sync of a file fails; what it should have made durable stays visible, but no later
  // sync saves it.
  void FailNextSync();
  // Sync does nothing and says OK: a planted fault.
  void IgnoreSyncs(bool ignore);
  // All files together may take this many bytes.
  void SetCapacityBytes(uint64_t bytes);
  // Flips bits of one durable byte.
  absl::Status Damage(const std::string& path, uint64_t offset, uint8_t mask = 0xFF);

  // What has happened.
  uint64_t operation_count() const;  // changing ones
  uint64_t sync_count() const;       // of files
  uint64_t write_count() const;
  uint64_t UsedBytes() const;

  absl::StatusOr<std::unique_ptr<storage::File>> Open(const std::string& path,
                                                      bool create) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& folder) override;
  absl::Status CreateFolder(const std::string& folder) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncFolder(const std::string& folder) override;
  absl::StatusOr<uint64_t> FreeBytes(const std::string& folder) override;
  bool Exists(const std::string& path) override;
  // Holds until the next start at most.
  absl::StatusOr<std::unique_ptr<storage::FileLock>> LockFolder(const std::string& folder) override;

 private:
  class OpenFile;
  class Lock;
  struct Inode;
  using Names = std::map<std::string, std::shared_ptr<Inode>>;  // by path
  // A change of names that no SyncFolder has made durable.
  struct NameChange {
    std::string folder;
    std::function<void(Names*)> apply;
  };

  enum class Turn { kWhole, kPart, kStopped };
  Turn NextTurnLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ChangeNamesLocked(const std::string& path, std::function<void(Names*)> apply)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t UsedBytesLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckRoomLocked(uint64_t more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartAgainLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Status WriteAt(Inode* inode, uint64_t generation, uint64_t offset, std::string_view bytes);
  absl::StatusOr<std::string> ReadAt(const Inode& inode, uint64_t generation, uint64_t offset,
                                     size_t length) const;
  absl::Status Sync(Inode* inode, uint64_t generation);
  absl::Status Allocate(Inode* inode, uint64_t generation, uint64_t bytes);
  uint64_t SizeBytes(const Inode& inode) const;
  void Unlock(const std::string& folder, uint64_t generation);

  mutable absl::Mutex mutex_;
  base::Random random_ ABSL_GUARDED_BY(mutex_);
  Names names_ ABSL_GUARDED_BY(mutex_);
  Names durable_names_ ABSL_GUARDED_BY(mutex_);
  std::vector<NameChange> name_changes_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> locked_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;  // of starts
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t operations_left_ ABSL_GUARDED_BY(mutex_) = 0;  // until the stop; 0: no stop
  bool fail_next_sync_ ABSL_GUARDED_BY(mutex_) = false;
  bool ignore_syncs_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t capacity_bytes_ ABSL_GUARDED_BY(mutex_) = uint64_t{1} << 40;
  uint64_t operation_count_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t sync_count_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t write_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace evenkeel::tests
