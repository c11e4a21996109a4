// The segments of a running log in order: those with records, the end of the last one, and those
// made ready behind it.
//
// Knows where entries lie and which segments may go; does no I/O. Guarded by the owner's mutex.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/types.h"
#include "storage/log/recovery.h"
#include "storage/log/segment.h"
#include "storage/log/space.h"

namespace evenkeel::storage {

// Where the entries of one shard lie in one segment: from an offset on, up to and including `last`.
struct LogReadPart {
  std::shared_ptr<LogSegment> segment;
  uint64_t offset = 0;
  LogIndex last;
};

// The last entry that a shard's own recovery no longer needs.
using ForgottenFunction = absl::FunctionRef<LogIndex(ShardId)>;

class LogSegmentList {
 public:
  // Requires at least one segment.
  void Start(RecoveredLog recovered);

  LogSegment& current() const { return *segments_.back(); }
  const std::shared_ptr<LogSegment>& current_pointer() const { return segments_.back(); }
  LogPosition end() const { return end_; }
  // True when the next record is the first of its segment, a start record.
  bool AtStart() const { return end_.offset() == kLogFirstRecordOffset; }
  // Bytes left in the current segment.
  uint64_t RestBytes() const { return current().capacity() - end_.offset(); }
  void Advance(uint64_t bytes) { end_ = {end_.bits + bytes}; }

  // Goes on in the next segment. False when none is ready.
  bool Rotate();
  void AddReady(std::shared_ptr<LogSegment> segment) { ready_.push_back(std::move(segment)); }
  size_t ready_count() const { return ready_.size(); }
  uint64_t next_number() const;

  // Room for entries: every segment loses a start record and, at its end, a closing record.
  LogRoom Room(uint64_t start_bytes, uint64_t closing_bytes) const;

  // The oldest entry of the shard; nothing when there is none.
  std::optional<LogIndex> FirstIndex(ShardId shard) const;
  // Where the shard's entries from `from` on lie. Requires FirstIndex(shard) <= from.
  std::vector<LogReadPart> PlanRead(ShardId shard, LogIndex from) const;
  // A mark at or before the first entry that holds a timestamp at or after `at_least`; nothing when
  // none does.
  std::optional<LogIndex> FindByTimestamp(ShardId shard, Timestamp at_least) const;
  // Bytes from the first segment that holds an entry above `forgotten` on; 0 when there is none.
  uint64_t HeldBackBytes(ShardId shard, LogIndex forgotten) const;

  // True when the log can do without its oldest segment: nobody needs it for recovery, and the
  // start record of the next one is durable.
  bool CanDropOldest(LogPosition durable, ForgottenFunction forgotten) const;
  const LogSegment& oldest() const { return *segments_.front(); }
  std::shared_ptr<LogSegment> DropOldest();

  size_t segment_count() const { return segments_.size(); }
  uint64_t TotalBytes() const;

 private:
  std::deque<std::shared_ptr<LogSegment>> segments_;
  std::deque<std::shared_ptr<LogSegment>> ready_;
  LogPosition end_;
};

}  // namespace evenkeel::storage
