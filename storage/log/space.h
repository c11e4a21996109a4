// Counts what the log owes room to: reservations and queued entries. Pure; guarded by the owner's
// mutex.
//
// A record lies in one segment. If it does not fit into the rest of one, that rest stays unused; it
// is smaller than the record. So records of `owed` bytes in all, none above `largest`, fit into the
// rest of the current segment and `n` ready ones of `ready` bytes in all, in any order, whenever
// owed + n * largest <= rest + ready.
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
  // Owes room for `bytes` more, for a record of `record_bytes` in all.
  void Owe(size_t bytes, size_t record_bytes) {
    owed_bytes_ += bytes;
    largest_bytes_ = std::max<uint64_t>(largest_bytes_, record_bytes);
  }
  void Settle(size_t bytes) {
    EVENKEEL_CHECK(bytes <= owed_bytes_);
    owed_bytes_ -= bytes;
    if (owed_bytes_ == 0) largest_bytes_ = 0;
  }
  // True when `bytes` more, of a record of `record_bytes`, fit beside everything owed.
  bool Fits(size_t bytes, size_t record_bytes, const LogRoom& room) const {
    const uint64_t largest = std::max<uint64_t>(largest_bytes_, record_bytes);
    return owed_bytes_ + bytes + room.ready_count * largest <= room.rest_bytes + room.ready_bytes;
  }
  uint64_t owed_bytes() const { return owed_bytes_; }

 private:
  uint64_t owed_bytes_ = 0;
  uint64_t largest_bytes_ = 0;  // of anything owed since the last time nothing was
};

}  // namespace evenkeel::storage
