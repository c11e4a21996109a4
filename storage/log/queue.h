// Entries that wait for the log thread, and the choice of the next group. Pure; guarded by the
// owner's mutex.
//
// Shards take turns entry by entry, so that a shard with a long queue does not delay the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "storage/log/log.h"

namespace evenkeel::storage {

struct PendingEntry {
  ShardId shard;
  LogEntry entry;
  uint32_t payload_checksum = 0;
  size_t record_bytes = 0;
};

class LogQueue {
 public:
  void Push(PendingEntry entry);
  bool empty() const { return count_ == 0; }

  // Takes the next group: entries in turn, up to `group_bytes_max`, one larger entry if it comes
  // first; never more than `room_bytes`. Nothing if the entry whose turn it is does not fit into
  // the room.
  std::vector<PendingEntry> TakeGroup(size_t group_bytes_max, size_t room_bytes);

  // Drops the shard's entries from `from` on; returns the bytes of their records and how many there
  // were.
  struct Cut {
    size_t bytes = 0;
    size_t count = 0;
  };
  Cut CutSuffix(ShardId shard, LogIndex from);
  void Clear();

 private:
  struct Lane {
    ShardId shard;
    std::deque<PendingEntry> entries;
  };
  Lane& LaneOf(ShardId shard);
  Lane& NextLane();

  std::vector<Lane> lanes_;
  size_t turn_ = 0;  // the lane to look at first
  size_t count_ = 0;
};

}  // namespace evenkeel::storage
