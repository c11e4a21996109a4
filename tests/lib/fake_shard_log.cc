// Implements the log in memory.
#include "tests/lib/fake_shard_log.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace evenkeel::tests {

FakeShardLog::FakeShardLog() : thread_("fake-log", [this] { Run(); }) {}

FakeShardLog::~FakeShardLog() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.Join();
}

LogIndex FakeShardLog::LastLocked() const { return LogIndex{first_.value + entries_.size() - 1}; }

void FakeShardLog::Run() {
  while (true) {
    LogIndex last;
    {
      absl::MutexLock lock(&mutex_);
      const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return stop_ || (!hold_ && LastLocked() > committed_);
      };
      mutex_.Await(absl::Condition(&work));
      if (stop_) return;
      last = LastLocked();
    }
    CommitUpTo(last);
  }
}

void FakeShardLog::CommitUpTo(LogIndex index) {
  absl::MutexLock notify(&notify_mutex_);
  CommittedListener listener;
  {
    absl::MutexLock lock(&mutex_);
    committed_ = std::max(committed_, std::min(index, LastLocked()));
    index = committed_;
    listener = listener_;
  }
  if (listener) listener(index);
  absl::MutexLock lock(&mutex_);
  told_ = index;
}

void FakeShardLog::Hold(bool hold) {
  absl::MutexLock lock(&mutex_);
  hold_ = hold;
}

void FakeShardLog::WaitUntilIdle() {
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]()
                        ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return told_ == LastLocked(); };
  mutex_.Await(absl::Condition(&idle));
}

void FakeShardLog::WaitForMoreThan(LogIndex index) {
  absl::MutexLock lock(&mutex_);
  const auto more = [this, index]()
                        ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return LastLocked() > index; };
  mutex_.Await(absl::Condition(&more));
}

void FakeShardLog::DropUncommitted() {
  absl::MutexLock lock(&mutex_);
  while (LastLocked() > committed_) entries_.pop_back();
}

void FakeShardLog::SetSpace(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  space_ = bytes;
  essential_has_space_ = false;
}

void FakeShardLog::SetSpaceButForEssential(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  space_ = bytes;
  essential_has_space_ = true;
}

void FakeShardLog::SetHeldBackBytes(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  held_back_ = bytes;
}

LogIndex FakeShardLog::last() {
  absl::MutexLock lock(&mutex_);
  return LastLocked();
}

std::vector<storage::LogEntry> FakeShardLog::entries() {
  absl::MutexLock lock(&mutex_);
  return {entries_.begin(), entries_.end()};
}

void FakeShardLog::SetCommittedListener(CommittedListener listener) {
  absl::MutexLock notify(&notify_mutex_);
  absl::MutexLock lock(&mutex_);
  listener_ = std::move(listener);
}

absl::Status FakeShardLog::Reserve(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (bytes <= space_) return absl::OkStatus();
  return Error(ErrorCode::kOutOfDiskSpace, "the log has room for {} bytes", space_);
}

absl::Status FakeShardLog::ReserveEssential(size_t bytes) {
  {
    absl::MutexLock lock(&mutex_);
    if (essential_has_space_) return absl::OkStatus();
  }
  return Reserve(bytes);
}

void FakeShardLog::Append(storage::LogEntry entry) {
  absl::MutexLock lock(&mutex_);
  EVENKEEL_CHECK(entry.index.value == LastLocked().value + 1);
  entries_.push_back(std::move(entry));
}

LogIndex FakeShardLog::committed() const {
  absl::MutexLock lock(&mutex_);
  return committed_;
}

LogIndex FakeShardLog::first_index() const {
  absl::MutexLock lock(&mutex_);
  return first_;
}

absl::StatusOr<std::vector<storage::LogEntry>> FakeShardLog::Read(LogIndex from, size_t bytes_max) {
  absl::MutexLock lock(&mutex_);
  if (from < first_)
    return Error(ErrorCode::kCappedPositionLost, "entry {} is forgotten", from.value);
  std::vector<storage::LogEntry> read;
  size_t bytes = 0;
  for (size_t i = from.value - first_.value; i < entries_.size(); ++i) {
    bytes += entries_[i].payload.size();
    if (!read.empty() && bytes > bytes_max) break;
    read.push_back(entries_[i]);
  }
  return read;
}

absl::Status FakeShardLog::CutSuffix(LogIndex from) {
  absl::MutexLock lock(&mutex_);
  while (LastLocked() >= from && LastLocked() > committed_) entries_.pop_back();
  return absl::OkStatus();
}

void FakeShardLog::Forget(LogIndex last) {
  absl::MutexLock lock(&mutex_);
  EVENKEEL_CHECK(last <= committed_);
  while (!entries_.empty() && first_ <= last) {
    entries_.pop_front();
    ++first_.value;
  }
}

uint64_t FakeShardLog::HeldBackBytes() const {
  absl::MutexLock lock(&mutex_);
  return held_back_;
}

}  // namespace evenkeel::tests
