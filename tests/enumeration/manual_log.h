// A shard's log in memory that becomes durable only when the test says so.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "storage/log/log.h"

namespace evenkeel::tests {

class ManualLog final : public storage::ShardLog {
 public:
  // Begins with entries that are durable.
  explicit ManualLog(std::vector<storage::LogEntry> entries)
      : entries_(std::move(entries)), durable_(entries_.size()) {}

  // Makes everything durable; what waits for it goes on in the calling thread.
  void Sync() {
    CommittedListener listener;
    {
      absl::MutexLock lock(&mutex_);
      durable_ = entries_.size();
      listener = listener_;
    }
    if (listener) listener(committed());
  }
  bool IsDurable() const {
    absl::MutexLock lock(&mutex_);
    return durable_ == entries_.size();
  }
  // What a power loss leaves.
  std::vector<storage::LogEntry> DurableEntries() const {
    absl::MutexLock lock(&mutex_);
    return {entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(durable_)};
  }

  void SetCommittedListener(CommittedListener listener) override {
    absl::MutexLock lock(&mutex_);
    listener_ = std::move(listener);
  }
  absl::Status Reserve(size_t) override { return absl::OkStatus(); }
  void Append(storage::LogEntry entry) override {
    absl::MutexLock lock(&mutex_);
    EVENKEEL_CHECK(entry.index.value == entries_.size() + 1);
    entries_.push_back(std::move(entry));
  }
  LogIndex committed() const override {
    absl::MutexLock lock(&mutex_);
    return LogIndex{durable_};
  }
  LogIndex first_index() const override { return LogIndex{1}; }
  absl::StatusOr<std::vector<storage::LogEntry>> Read(LogIndex from, size_t) override {
    absl::MutexLock lock(&mutex_);
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(from.value - 1);
    return std::vector<storage::LogEntry>(begin,
                                          entries_.begin() + static_cast<std::ptrdiff_t>(durable_));
  }
  absl::Status CutSuffix(LogIndex from) override {
    absl::MutexLock lock(&mutex_);
    entries_.resize(std::max<size_t>(durable_, from.value - 1));
    return absl::OkStatus();
  }
  void Forget(LogIndex) override {}
  uint64_t HeldBackBytes() const override { return 0; }

 private:
  mutable absl::Mutex mutex_;
  std::vector<storage::LogEntry> entries_ ABSL_GUARDED_BY(mutex_);
  size_t durable_ ABSL_GUARDED_BY(mutex_);
  CommittedListener listener_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::tests
