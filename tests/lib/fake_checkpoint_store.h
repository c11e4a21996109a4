// A checkpoint store in memory that outlives the engine, for tests: transactions are atomic, and
// the disk fills up after as many commits as the test allows, which stands for a crash between two
// of them.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "storage/lmdb/checkpoint_store.h"

namespace evenkeel::tests {

class FakeCheckpointStore final : public storage::CheckpointStore {
 public:
  using Map = std::map<std::string, std::string, std::less<>>;
  using State = std::array<std::shared_ptr<const Map>, storage::kDatabaseCount>;

  // `pages_per_change`: what one change adds to the estimate of dirty pages.
  explicit FakeCheckpointStore(size_t pages_per_change = 1);

  // After `count` more commits all fail with OutOfDiskSpace.
  void AllowCommits(uint64_t count);
  uint64_t commits() const;
  // Called once, at the beginning of the next BeginRead: what happens between a reader's view and
  // its transaction.
  void BeforeNextRead(std::function<void()> action);
  // What `database` holds now.
  Map Content(size_t database) const;
  // Changes a value behind the engine's back.
  void Damage(size_t database, const std::string& key, const std::string& value);

  absl::StatusOr<std::unique_ptr<storage::CheckpointReader>> BeginRead() override;
  absl::StatusOr<std::unique_ptr<storage::CheckpointWriter>> BeginWrite() override;
  absl::Status Compact() override;
  uint64_t SizeBytes() const override;

 private:
  friend class FakeWriter;
  absl::Status Commit(State state);
  State Current() const;

  const size_t pages_per_change_;
  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> before_read_ ABSL_GUARDED_BY(mutex_);
  uint64_t commits_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t commits_allowed_ ABSL_GUARDED_BY(mutex_) = ~uint64_t{0};
};

}  // namespace evenkeel::tests
