// Implements the list of segments.
#include "storage/log/segment_list.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::storage {

void LogSegmentList::Start(RecoveredLog recovered) {
  EVENKEEL_CHECK(!recovered.segments.empty());
  segments_ = std::move(recovered.segments);
  ready_ = std::move(recovered.ready);
  end_ = recovered.end;
}

bool LogSegmentList::Rotate() {
  if (ready_.empty()) return false;
  segments_.push_back(std::move(ready_.front()));
  ready_.pop_front();
  end_ = current().At(kLogFirstRecordOffset);
  return true;
}

uint64_t LogSegmentList::next_number() const {
  return (ready_.empty() ? segments_ : ready_).back()->number() + 1;
}

LogRoom LogSegmentList::Room(uint64_t start_bytes, uint64_t closing_bytes) const {
  const uint64_t taken = closing_bytes + (AtStart() ? start_bytes : 0);
  LogRoom room;
  room.rest_bytes = RestBytes() > taken ? RestBytes() - taken : 0;
  room.ready_count = ready_.size();
  for (const auto& segment : ready_) {
    room.ready_bytes += segment->capacity() - kLogFirstRecordOffset - start_bytes - closing_bytes;
  }
  return room;
}

std::optional<LogIndex> LogSegmentList::FirstIndex(ShardId shard) const {
  for (const auto& segment : segments_) {
    const LogSegmentShard* part = segment->Find(shard);
    if (part != nullptr) return part->first;
  }
  return std::nullopt;
}

std::vector<LogReadPart> LogSegmentList::PlanRead(ShardId shard, LogIndex from) const {
  std::vector<LogReadPart> plan;
  for (const auto& segment : segments_) {
    const LogSegmentShard* part = segment->Find(shard);
    if (part == nullptr || part->last < from) continue;
    const LogMark& mark = part->MarkBefore(std::max(from, part->first));
    plan.push_back({.segment = segment, .offset = mark.offset, .last = part->last});
  }
  return plan;
}

std::optional<LogIndex> LogSegmentList::FindByTimestamp(ShardId shard, Timestamp at_least) const {
  for (const auto& segment : segments_) {
    const LogSegmentShard* part = segment->Find(shard);
    if (part == nullptr || part->highest < at_least) continue;
    for (const LogMark& mark : part->marks) {
      if (mark.highest >= at_least) return mark.index;
    }
  }
  return std::nullopt;
}

uint64_t LogSegmentList::HeldBackBytes(ShardId shard, LogIndex forgotten) const {
  uint64_t bytes = 0;
  for (const auto& segment : segments_) {
    const LogSegmentShard* part = segment->Find(shard);
    const bool needed = part != nullptr && part->last > forgotten;
    if (bytes == 0 && !needed) continue;
    bytes += segment == segments_.back() ? end_.offset() : segment->capacity();
  }
  return bytes;
}

bool LogSegmentList::CanDropOldest(LogPosition durable, ForgottenFunction forgotten) const {
  if (segments_.size() < 2 || durable.segment() <= segments_.front()->number()) return false;
  for (const LogSegmentShard& part : segments_.front()->shards()) {
    if (part.last > forgotten(part.shard)) return false;
  }
  return true;
}

std::shared_ptr<LogSegment> LogSegmentList::DropOldest() {
  std::shared_ptr<LogSegment> segment = std::move(segments_.front());
  segments_.pop_front();
  return segment;
}

uint64_t LogSegmentList::TotalBytes() const {
  uint64_t bytes = 0;
  for (const auto& segment : segments_) bytes += segment->capacity();
  return bytes;
}

}  // namespace evenkeel::storage
