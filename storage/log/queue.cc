// Implements the queue of entries in front of the log thread.
#include "storage/log/queue.h"

#include <utility>

#include "base/check.h"

namespace evenkeel::storage {

LogQueue::Lane& LogQueue::LaneOf(ShardId shard) {
  for (Lane& lane : lanes_) {
    if (lane.shard == shard) return lane;
  }
  lanes_.push_back({.shard = shard});
  return lanes_.back();
}

LogQueue::Lane& LogQueue::NextLane() {
  EVENKEEL_CHECK(count_ > 0);
  while (lanes_[turn_].entries.empty()) turn_ = (turn_ + 1) % lanes_.size();
  return lanes_[turn_];
}

void LogQueue::Push(PendingEntry entry) {
  LaneOf(entry.shard).entries.push_back(std::move(entry));
  ++count_;
}

std::vector<PendingEntry> LogQueue::TakeGroup(size_t group_bytes_max, size_t room_bytes) {
  std::vector<PendingEntry> group;
  size_t bytes = 0;
  while (count_ > 0) {
    Lane& lane = NextLane();
    const size_t after = bytes + lane.entries.front().record_bytes;
    if (after > room_bytes || (!group.empty() && after > group_bytes_max)) break;
    group.push_back(std::move(lane.entries.front()));
    lane.entries.pop_front();
    --count_;
    bytes = after;
    turn_ = (turn_ + 1) % lanes_.size();
  }
  return group;
}

LogQueue::Cut LogQueue::CutSuffix(ShardId shard, LogIndex from) {
  Cut cut;
  std::deque<PendingEntry>& entries = LaneOf(shard).entries;
  while (!entries.empty() && entries.back().entry.index >= from) {
    cut.bytes += entries.back().record_bytes;
    ++cut.count;
    entries.pop_back();
    --count_;
  }
  return cut;
}

void LogQueue::Clear() {
  for (Lane& lane : lanes_) lane.entries.clear();
  count_ = 0;
}

}  // namespace evenkeel::storage
