// Implements the file system that loses power.
#include "tests/lib/simulated_file_system.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace evenkeel::tests {
namespace {

constexpr uint64_t kSectorBytes = 512;

absl::Status Stopped() { return Error(ErrorCode::kOperationFailed, "the power is off"); }

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string Sector(const std::string& bytes, uint64_t sector) {
  std::string out = bytes.size() > sector * kSectorBytes
                        ? bytes.substr(sector * kSectorBytes, kSectorBytes)
                        : std::string();
  out.resize(kSectorBytes, '\0');
  return out;
}

void SetSector(std::string* bytes, uint64_t sector, const std::string& content) {
  const uint64_t begin = sector * kSectorBytes;
  if (begin >= bytes->size()) return;
  const size_t length = std::min<uint64_t>(kSectorBytes, bytes->size() - begin);
  bytes->replace(begin, length, content, 0, length);
}

}  // namespace

// A file's bytes, with or without a name.
struct SimulatedFileSystem::Inode {
  std::string bytes;                                      // as processes see it
  std::string durable;                                    // as the disk has it
  std::map<uint64_t, std::vector<std::string>> versions;  // of sectors, since the last sync
};

class SimulatedFileSystem::OpenFile final : public storage::File {
 public:
  OpenFile(SimulatedFileSystem* system, std::shared_ptr<Inode> inode, uint64_t generation)
      : system_(system), inode_(std::move(inode)), generation_(generation) {}

  absl::Status WriteAt(uint64_t offset, std::string_view bytes) override {
    return system_->WriteAt(inode_.get(), generation_, offset, bytes);
  }
  absl::StatusOr<std::string> ReadAt(uint64_t offset, size_t length) const override {
    return system_->ReadAt(*inode_, generation_, offset, length);
  }
  absl::Status Sync() override { return system_->Sync(inode_.get(), generation_); }
  absl::Status Allocate(uint64_t bytes) override {
    return system_->Allocate(inode_.get(), generation_, bytes);
  }
  uint64_t SizeBytes() const override { return system_->SizeBytes(*inode_); }

 private:
  SimulatedFileSystem* const system_;
  const std::shared_ptr<Inode> inode_;
  const uint64_t generation_;
};

class SimulatedFileSystem::Lock final : public storage::FileLock {
 public:
  Lock(SimulatedFileSystem* system, std::string folder, uint64_t generation)
      : system_(system), folder_(std::move(folder)), generation_(generation) {}
  ~Lock() override { system_->Unlock(folder_, generation_); }

 private:
  SimulatedFileSystem* const system_;
  const std::string folder_;
  const uint64_t generation_;
};

SimulatedFileSystem::~SimulatedFileSystem() = default;

void SimulatedFileSystem::StopAfter(uint64_t count) {
  absl::MutexLock lock(&mutex_);
  operations_left_ = count;
}

bool SimulatedFileSystem::stopped() const {
  absl::MutexLock lock(&mutex_);
  return stopped_;
}

void SimulatedFileSystem::StartAgainLocked() {
  stopped_ = false;
  operations_left_ = 0;
  fail_next_sync_ = false;
  locked_.clear();
  ++generation_;
}

void SimulatedFileSystem::RestartProcess() {
  absl::MutexLock lock(&mutex_);
  StartAgainLocked();
}

void SimulatedFileSystem::CutPower() {
  absl::MutexLock lock(&mutex_);
  StartAgainLocked();
  // From nothing to everything that was under way reaches the disk.
  const double kept = static_cast<double>(random_.Uniform(5)) / 4;
  for (const NameChange& change : name_changes_) {
    if (random_.Chance(kept)) change.apply(&durable_names_);
  }
  std::set<Inode*> seen;
  for (const auto& [path, inode] : durable_names_) {
    if (!seen.insert(inode.get()).second) continue;
    if (random_.Chance(kept)) inode->durable.resize(inode->bytes.size(), '\0');
    for (const auto& [sector, versions] : inode->versions) {
      if (!random_.Chance(kept)) continue;
      SetSector(&inode->durable, sector, versions[random_.Uniform(versions.size())]);
    }
    inode->versions.clear();
    inode->bytes = inode->durable;
  }
  name_changes_.clear();
  names_ = durable_names_;
}

void SimulatedFileSystem::FailNextSync() {
  absl::MutexLock lock(&mutex_);
  fail_next_sync_ = true;
}

void SimulatedFileSystem::IgnoreSyncs(bool ignore) {
  absl::MutexLock lock(&mutex_);
  ignore_syncs_ = ignore;
}

void SimulatedFileSystem::SetCapacityBytes(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  capacity_bytes_ = bytes;
}

absl::Status SimulatedFileSystem::Damage(const std::string& path, uint64_t offset, uint8_t mask) {
  absl::MutexLock lock(&mutex_);
  const auto found = names_.find(path);
  if (found == names_.end()) return Error(ErrorCode::kOperationFailed, "no file {}", path);
  for (std::string* bytes : {&found->second->bytes, &found->second->durable}) {
    if (offset < bytes->size()) {
      (*bytes)[offset] = static_cast<char>(static_cast<uint8_t>((*bytes)[offset]) ^ mask);
    }
  }
  return absl::OkStatus();
}

uint64_t SimulatedFileSystem::operation_count() const {
  absl::MutexLock lock(&mutex_);
  return operation_count_;
}

uint64_t SimulatedFileSystem::sync_count() const {
  absl::MutexLock lock(&mutex_);
  return sync_count_;
}

uint64_t SimulatedFileSystem::write_count() const {
  absl::MutexLock lock(&mutex_);
  return write_count_;
}

uint64_t SimulatedFileSystem::UsedBytes() const {
  absl::MutexLock lock(&mutex_);
  return UsedBytesLocked();
}

uint64_t SimulatedFileSystem::UsedBytesLocked() const {
  uint64_t used = 0;
  for (const auto& [path, inode] : names_) used += inode->bytes.size();
  return used;
}

absl::Status SimulatedFileSystem::CheckRoomLocked(uint64_t more) {
  if (more == 0 || UsedBytesLocked() + more <= capacity_bytes_) return absl::OkStatus();
  return Error(ErrorCode::kOutOfDiskSpace, "the simulated disk is full");
}

SimulatedFileSystem::Turn SimulatedFileSystem::NextTurnLocked() {
  if (stopped_) return Turn::kStopped;
  ++operation_count_;
  if (operations_left_ == 0 || --operations_left_ > 0) return Turn::kWhole;
  stopped_ = true;
  return Turn::kPart;
}

absl::StatusOr<std::unique_ptr<storage::File>> SimulatedFileSystem::Open(const std::string& path,
                                                                         bool create) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return Stopped();
  auto found = names_.find(path);
  if (found == names_.end()) {
    if (!create) return Error(ErrorCode::kOperationFailed, "cannot open {}: no such file", path);
    auto inode = std::make_shared<Inode>();
    EVENKEEL_RETURN_IF_ERROR(
        ChangeNamesLocked(path, [path, inode](Names* names) { (*names)[path] = inode; }));
    found = names_.find(path);
  }
  return std::make_unique<OpenFile>(this, found->second, generation_);
}

absl::Status SimulatedFileSystem::ChangeNamesLocked(const std::string& path,
                                                    std::function<void(Names*)> apply) {
  const Turn turn = NextTurnLocked();
  if (turn == Turn::kStopped) return Stopped();
  apply(&names_);
  name_changes_.push_back({.folder = FolderOf(path), .apply = std::move(apply)});
  return turn == Turn::kWhole ? absl::OkStatus() : Stopped();
}

absl::StatusOr<std::vector<std::string>> SimulatedFileSystem::List(const std::string& folder) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return Stopped();
  std::vector<std::string> names;
  for (const auto& [path, inode] : names_) {
    if (FolderOf(path) == folder) names.push_back(path.substr(folder.size() + 1));
  }
  return names;
}

absl::Status SimulatedFileSystem::CreateFolder(const std::string& /*folder*/) {
  absl::MutexLock lock(&mutex_);
  return stopped_ ? Stopped() : absl::OkStatus();
}

absl::Status SimulatedFileSystem::Rename(const std::string& from, const std::string& to) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return Stopped();
  const auto found = names_.find(from);
  if (found == names_.end()) {
    return Error(ErrorCode::kOperationFailed, "cannot rename {}: no such file", from);
  }
  return ChangeNamesLocked(to, [from, to, inode = found->second](Names* names) {
    // The old name may mean another file by now: this change then only adds the new one.
    const auto old = names->find(from);
    if (old != names->end() && old->second == inode) names->erase(old);
    (*names)[to] = inode;
  });
}

absl::Status SimulatedFileSystem::Remove(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return Stopped();
  if (!names_.contains(path)) {
    return Error(ErrorCode::kOperationFailed, "cannot remove {}: no such file", path);
  }
  return ChangeNamesLocked(path, [path](Names* names) { names->erase(path); });
}

absl::Status SimulatedFileSystem::SyncFolder(const std::string& folder) {
  absl::MutexLock lock(&mutex_);
  if (NextTurnLocked() != Turn::kWhole) return Stopped();
  if (ignore_syncs_) return absl::OkStatus();
  std::erase_if(name_changes_, [&](const NameChange& change) {
    if (change.folder != folder) return false;
    change.apply(&durable_names_);
    return true;
  });
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SimulatedFileSystem::FreeBytes(const std::string& /*folder*/) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return Stopped();
  const uint64_t used = UsedBytesLocked();
  return used < capacity_bytes_ ? capacity_bytes_ - used : 0;
}

bool SimulatedFileSystem::Exists(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  return names_.contains(path);
}

absl::StatusOr<std::unique_ptr<storage::FileLock>> SimulatedFileSystem::LockFolder(
    const std::string& folder) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return Stopped();
  if (!locked_.insert(folder).second) {
    return Error(ErrorCode::kOperationFailed, "{} is in use", folder);
  }
  return std::make_unique<Lock>(this, folder, generation_);
}

void SimulatedFileSystem::Unlock(const std::string& folder, uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  if (generation == generation_) locked_.erase(folder);
}

absl::Status SimulatedFileSystem::WriteAt(Inode* inode, uint64_t generation, uint64_t offset,
                                          std::string_view bytes) {
  absl::MutexLock lock(&mutex_);
  const Turn turn = generation == generation_ ? NextTurnLocked() : Turn::kStopped;
  if (turn == Turn::kStopped) return Stopped();
  const uint64_t end = offset + bytes.size();
  if (end > inode->bytes.size()) {
    EVENKEEL_RETURN_IF_ERROR(CheckRoomLocked(end - inode->bytes.size()));
    inode->bytes.resize(end, '\0');
  }
  ++write_count_;
  inode->bytes.replace(offset, bytes.size(), bytes);
  for (uint64_t sector = offset / kSectorBytes; sector * kSectorBytes < end; ++sector) {
    inode->versions[sector].push_back(Sector(inode->bytes, sector));
  }
  return turn == Turn::kWhole ? absl::OkStatus() : Stopped();
}

absl::StatusOr<std::string> SimulatedFileSystem::ReadAt(const Inode& inode, uint64_t generation,
                                                        uint64_t offset, size_t length) const {
  absl::MutexLock lock(&mutex_);
  if (stopped_ || generation != generation_) return Stopped();
  if (offset >= inode.bytes.size()) return std::string();
  return inode.bytes.substr(offset, length);
}

absl::Status SimulatedFileSystem::Sync(Inode* inode, uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  const Turn turn = generation == generation_ ? NextTurnLocked() : Turn::kStopped;
  if (turn != Turn::kWhole) return Stopped();
  ++sync_count_;
  if (fail_next_sync_) {
    // The system gives the pages up as clean: still visible, never written.
    fail_next_sync_ = false;
    inode->versions.clear();
    return Error(ErrorCode::kOperationFailed, "the simulated disk failed to sync");
  }
  if (ignore_syncs_) return absl::OkStatus();
  inode->durable.resize(inode->bytes.size(), '\0');
  for (const auto& [sector, versions] : inode->versions) {
    SetSector(&inode->durable, sector, versions.back());
  }
  inode->versions.clear();
  return absl::OkStatus();
}

absl::Status SimulatedFileSystem::Allocate(Inode* inode, uint64_t generation, uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  const Turn turn = generation == generation_ ? NextTurnLocked() : Turn::kStopped;
  if (turn == Turn::kStopped) return Stopped();
  if (bytes > inode->bytes.size()) {
    EVENKEEL_RETURN_IF_ERROR(CheckRoomLocked(bytes - inode->bytes.size()));
    inode->bytes.resize(bytes, '\0');
  }
  return turn == Turn::kWhole ? absl::OkStatus() : Stopped();
}

uint64_t SimulatedFileSystem::SizeBytes(const Inode& inode) const {
  absl::MutexLock lock(&mutex_);
  return inode.bytes.size();
}

}  // namespace evenkeel::tests
