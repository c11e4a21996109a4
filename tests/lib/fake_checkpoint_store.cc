// Implements the checkpoint store in memory.
#include "tests/lib/fake_checkpoint_store.h"

#include <utility>

#include "base/status.h"

namespace evenkeel::tests {
namespace {

using Map = FakeCheckpointStore::Map;
using State = FakeCheckpointStore::State;

class FakeCursor final : public storage::CheckpointCursor {
 public:
  explicit FakeCursor(const Map* map) : map_(map), at_(map->end()) {}
  void Seek(std::string_view key) override { at_ = map_->lower_bound(key); }
  void SeekBack(std::string_view key) override {
    at_ = key.empty() ? map_->end() : map_->lower_bound(key);
    Previous();
  }
  void Next() override { ++at_; }
  void Previous() override {
    if (at_ == map_->begin()) {
      at_ = map_->end();
    } else {
      --at_;
    }
  }
  bool Valid() const override { return at_ != map_->end(); }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }

 private:
  const Map* const map_;
  Map::const_iterator at_;
};

class FakeReader final : public storage::CheckpointReader {
 public:
  explicit FakeReader(State state) : state_(std::move(state)) {}
  std::optional<std::string_view> Get(size_t database, std::string_view key) override {
    const auto found = state_[database]->find(key);
    if (found == state_[database]->end()) return std::nullopt;
    return found->second;
  }
  std::unique_ptr<storage::CheckpointCursor> NewCursor(size_t database) override {
    return std::make_unique<FakeCursor>(state_[database].get());
  }

 private:
  const State state_;
};

}  // namespace

class FakeWriter final : public storage::CheckpointWriter {
 public:
  explicit FakeWriter(FakeCheckpointStore* store) : store_(store), state_(store->Current()) {}

  absl::StatusOr<std::optional<std::string_view>> Get(size_t database,
                                                      std::string_view key) override {
    const Map& map = Seen(database);
    const auto found = map.find(key);
    if (found == map.end()) return std::optional<std::string_view>();
    return std::optional<std::string_view>(found->second);
  }
  absl::StatusOr<bool> FindAtLeast(size_t database, std::string_view key, std::string* found_key,
                                   std::string* found_value) override {
    const Map& map = Seen(database);
    const auto found = map.lower_bound(key);
    if (found == map.end()) return false;
    *found_key = found->first;
    *found_value = found->second;
    return true;
  }
  absl::Status Put(size_t database, std::string_view key, std::string_view head,
                   std::string_view body) override {
    Changed(database)[std::string(key)] = std::string(head) + std::string(body);
    return absl::OkStatus();
  }
  absl::Status Remove(size_t database, std::string_view key) override {
    Changed(database).erase(std::string(key));
    return absl::OkStatus();
  }
  size_t DirtyPages() const override { return changes_ * store_->pages_per_change_; }
  absl::Status Commit() override {
    for (size_t database = 0; database < storage::kDatabaseCount; ++database) {
      if (changed_[database] != nullptr) state_[database] = changed_[database];
    }
    return store_->Commit(std::move(state_));
  }

 private:
  const Map& Seen(size_t database) const {
    return changed_[database] != nullptr ? *changed_[database] : *state_[database];
  }
  Map& Changed(size_t database) {
    ++changes_;
    if (changed_[database] == nullptr)
      changed_[database] = std::make_shared<Map>(*state_[database]);
    return *changed_[database];
  }

  FakeCheckpointStore* const store_;
  State state_;
  std::array<std::shared_ptr<Map>, storage::kDatabaseCount> changed_;
  size_t changes_ = 0;
};

FakeCheckpointStore::FakeCheckpointStore(size_t pages_per_change)
    : pages_per_change_(pages_per_change) {
  for (auto& map : state_) map = std::make_shared<Map>();
}

State FakeCheckpointStore::Current() const {
  absl::MutexLock lock(&mutex_);
  return state_;
}

absl::Status FakeCheckpointStore::Commit(State state) {
  absl::MutexLock lock(&mutex_);
  if (commits_allowed_ == 0) return Error(ErrorCode::kOutOfDiskSpace, "no more commits allowed");
  --commits_allowed_;
  ++commits_;
  state_ = std::move(state);
  return absl::OkStatus();
}

void FakeCheckpointStore::AllowCommits(uint64_t count) {
  absl::MutexLock lock(&mutex_);
  commits_allowed_ = count;
}

uint64_t FakeCheckpointStore::commits() const {
  absl::MutexLock lock(&mutex_);
  return commits_;
}

Map FakeCheckpointStore::Content(size_t database) const { return *Current()[database]; }

void FakeCheckpointStore::Damage(size_t database, const std::string& key,
                                 const std::string& value) {
  absl::MutexLock lock(&mutex_);
  auto map = std::make_shared<Map>(*state_[database]);
  (*map)[key] = value;
  state_[database] = std::move(map);
}

void FakeCheckpointStore::BeforeNextRead(std::function<void()> action) {
  absl::MutexLock lock(&mutex_);
  before_read_ = std::move(action);
}

absl::StatusOr<std::unique_ptr<storage::CheckpointReader>> FakeCheckpointStore::BeginRead() {
  std::function<void()> action;
  {
    absl::MutexLock lock(&mutex_);
    action.swap(before_read_);
  }
  if (action) action();
  return std::make_unique<FakeReader>(Current());
}

absl::StatusOr<std::unique_ptr<storage::CheckpointWriter>> FakeCheckpointStore::BeginWrite() {
  return std::make_unique<FakeWriter>(this);
}

absl::Status FakeCheckpointStore::Compact() { return absl::OkStatus(); }

uint64_t FakeCheckpointStore::SizeBytes() const { return 0; }

}  // namespace evenkeel::tests
