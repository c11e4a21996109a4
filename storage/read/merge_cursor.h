// A cursor over memory tables and LMDB together, in both directions.
//
// Used by readers with their view's tables and bound, and by the writer with everything (its table
// grows while the cursor lives).
#pragma once

#include <absl/container/inlined_vector.h>

#include <memory>
#include <string>

#include "storage/lmdb/checkpoint_store.h"
#include "storage/read/resolve.h"
#include "storage/read/view.h"

namespace evenkeel::storage {

class MergeCursor final : public Cursor {
 public:
  // `reader` and the tables outlive the cursor. `growing`: the newest table takes insertions of
  // this thread meanwhile.
  MergeCursor(const ReadTables& tables, CheckpointReader* reader, Table table, uint64_t bound,
              bool growing);

  void Seek(std::string_view key, std::string_view end) override;
  void SeekBack(std::string_view key, std::string_view begin) override;
  void Next() override;
  void Previous() override;
  bool Valid() const override { return valid_; }
  std::string_view key() const override { return key_; }
  Record record() const override { return record_; }

 private:
  enum class Direction : uint8_t { kForward, kBackward };

  // Places every source at its first key >= `key` (forward) or its last < `key` (backward).
  void PlaceAll(std::string_view key, Direction direction, std::string_view limit);
  void PlaceMemory(size_t source, std::string_view key);
  // From where the sources are, to the next key that exists within the limit.
  void Settle();
  bool IsBehindLimit(std::string_view key) const;
  // The nearest key of all sources in the current direction; false when all are at their end.
  bool NearestKey(std::string_view* key) const;
  // What the sources say of `key`, moving those that stand on it one further.
  Resolved TakeKey(std::string_view key);
  bool Grown();

  const Table table_;
  const uint64_t bound_;
  const bool growing_;
  absl::InlinedVector<const SkipList*, 6> lists_;  // newest first
  absl::InlinedVector<SkipNode*, 6> nodes_;        // where each list stands; null at its end
  std::unique_ptr<CheckpointCursor> lmdb_;
  Direction direction_ = Direction::kForward;
  std::string limit_;        // forward: the first key not to show; backward: the last one to show
  uint64_t seen_count_ = 0;  // insertions into the growing table when it was last placed
  bool valid_ = false;
  std::string_view key_;
  Record record_;
};

}  // namespace evenkeel::storage
