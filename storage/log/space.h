// Counts what the log owes room to: reservations and queued entries. Pure; guarded by the owner's
// mutex.
//
// A record lies in one segment. If it does not fit into the rest of one, that rest stays unused; it
// is smaller than the record. So records of `owed` bytes in all, none above `largest`, fit into the
// rest of the current segment and `n` ready ones of `ready` bytes in all, in any order, whenever
// owed + n * largest <= rest + ready. Of records that are nearly as large as a segment that says
// little: they fit as well when there are segments enough for as many of the largest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace evenkeel::storage {

// Room for records that exists already: durable, allocated.
struct LogRoom {
  uint64_t rest_bytes = 0;   // in the current segment
  uint64_t ready_bytes = 0;  // in the segments made ready
  size_t ready_count = 0;
};

class LogSpace {
 public:
  // Owes room for `bytes` more, for `records` more or, if 0, for one that gets larger; of
  // `record_bytes` in all.
  void Owe(size_t bytes, size_t record_bytes, size_t records) {
    owed_bytes_ += bytes;
    owed_records_ += records;
    largest_bytes_ = std::max<uint64_t>(largest_bytes_, record_bytes);
  }
  void Settle(size_t bytes, size_t records) {
    EVENKEEL_CHECK(bytes <= owed_bytes_ && records <= owed_records_);
    owed_bytes_ -= bytes;
    owed_records_ -= records;
    if (owed_bytes_ == 0) largest_bytes_ = 0;
  }
  // True when what Owe would be told fits beside everything owed.
  bool Fits(size_t bytes, size_t record_bytes, size_t records, const LogRoom& room) const {
    const uint64_t largest = std::max<uint64_t>(largest_bytes_, record_bytes);
    const uint64_t owed = owed_bytes_ + bytes;
    if (owed + room.ready_count * largest <= room.rest_bytes + room.ready_bytes) return true;
    if (room.ready_count == 0) return false;
    const uint64_t in_each = room.ready_bytes / room.ready_count / largest;
    return owed_records_ + records <= room.rest_bytes / largest + room.ready_count * in_each;
  }
  uint64_t owed_bytes() const { return owed_bytes_; }

 private:
  uint64_t owed_bytes_ = 0;
  uint64_t owed_records_ = 0;
  uint64_t largest_bytes_ = 0;  // of anything owed since the last time nothing was
};

}  // namespace evenkeel::storage
