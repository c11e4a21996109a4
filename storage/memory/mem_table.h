// One memory table: the effects of a run of batches on all tables of the shard, several versions
// per key.
//
// Written by the writer thread until it is frozen at a batch border, read by any thread, then
// written to LMDB by the checkpoint thread, which hangs what LMDB held before on each node. Dropped
// as a whole.
//
// Invariants
//   I1  A version that a reader may see is never changed or taken back; what is taken back was
//   never durable. I2  Versions of one key are in the order of their batches; their stamps do not
//   fall.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "storage/memory/arena.h"
#include "storage/memory/key_index.h"
#include "storage/memory/skip_list.h"
#include "storage/table.h"

namespace evenkeel::storage {

// A part of a table that nobody looks at any more; removed from LMDB in the background.
struct DeadRange {
  Table table = Table::kDocs;
  TableRange keys;
  Timestamp marked;
};

// Counter values as they are stored in memory tables and LMDB.
std::string EncodeCount(Count count);
// A damaged value reads as zero.
Count DecodeCount(std::string_view value);

class MemTable {
 public:
  // `first`: the index of the first batch that goes into it.
  explicit MemTable(LogIndex first);

  // Writer thread, before the table is frozen. The returned node's newest version is the new one.
  SkipNode* Put(Table table, std::string_view key, uint64_t stamp, std::string_view value);
  SkipNode* Remove(Table table, std::string_view key, uint64_t stamp);
  // Takes back the newest version of `node`. Requires that it is not durable.
  static void TakeBack(SkipNode* node);
  void AddDeadRange(DeadRange range) { dead_ranges_.push_back(std::move(range)); }
  void TakeBackDeadRange() { dead_ranges_.pop_back(); }
  // Batch `index` is complete; its highest commit timestamp is `last` (zero when it has none) and
  // it logged `clock_bound`.
  void EndBatch(LogIndex index, Timestamp last, Timestamp clock_bound);

  const SkipList& list(Table table) const { return lists_[static_cast<size_t>(table)]; }
  // The node of `key`, whose KeyHash is `hash`, or null. Any thread.
  SkipNode* Find(Table table, std::string_view key, uint64_t hash) const {
    return indexes_[static_cast<size_t>(table)].Find(hash, key);
  }
  LogIndex first_index() const { return first_index_; }
  // Fixed once the table is frozen; the writer's before that.
  LogIndex last_index() const { return last_index_; }
  Timestamp max_timestamp() const { return max_timestamp_; }
  Timestamp clock_bound() const { return clock_bound_; }
  const std::vector<DeadRange>& dead_ranges() const { return dead_ranges_; }

  // Bytes of nodes and values given out, for the decision to freeze. Any thread.
  size_t used_bytes() const { return nodes_.used_bytes() + values_.used_bytes(); }
  // Memory held, with what the checkpoint hung. Any thread.
  size_t held_bytes() const;

  // Checkpoint thread: remembers on `node` what LMDB held for its key.
  void HangOld(SkipNode* node, uint64_t stamp, std::string_view old_value);
  void HangAbsent(SkipNode* node);

 private:
  SkipNode* Install(Table table, std::string_view key, Version* version);

  Arena nodes_;  // apart from the values, so that a search touches few cache lines
  Arena values_;
  Arena hung_;  // the checkpoint thread's
  std::array<SkipList, kTableCount> lists_;
  std::array<KeyIndex, kTableCount> indexes_;  // of the lists' nodes
  std::vector<DeadRange> dead_ranges_;
  LogIndex first_index_;
  LogIndex last_index_;
  Timestamp max_timestamp_;
  Timestamp clock_bound_;
};

}  // namespace evenkeel::storage
