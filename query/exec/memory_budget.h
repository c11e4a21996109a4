// The memory that one blocking operator may hold, and all of the process together: rows that wait
// in open cursors would add up without bound otherwise.
//
// An operator that can write rows to disk makes room when Exceeded and MaySpill are true; others
// call Refuse.
#pragma once

#include <absl/status/status.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "query/context.h"

namespace evenkeel::query {

class MemoryBudget {
 public:
  // Of all operators of the process together.
  static constexpr int64_t kTotalBytesMax = int64_t{2} << 30;

  // `operator_name` ("$sort") must be a literal.
  MemoryBudget(const QueryContext& context, std::string_view operator_name, size_t bytes_max)
      : bytes_max_(bytes_max),
        disk_use_allowed_(context.allow_disk_use),
        may_spill_(context.allow_disk_use && context.spill != nullptr),
        name_(operator_name) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;
  ~MemoryBudget() { total_.fetch_sub(counted_, std::memory_order_relaxed); }

  // Notes what the operator holds now, which counts until it is destroyed or asks again.
  bool Exceeded(size_t held_bytes) const {
    const int64_t change = static_cast<int64_t>(held_bytes) - counted_;
    if (change >= kStepBytes || change <= -kStepBytes) {
      total_.fetch_add(change, std::memory_order_relaxed);
      counted_ += change;
    }
    return held_bytes > bytes_max_ || AllTogetherExceeded();
  }
  size_t bytes_max() const { return bytes_max_; }
  // True when writing what is held to disk is allowed and gives enough room to be worth it.
  bool MaySpill(size_t held_bytes) const {
    return may_spill_ && held_bytes >= std::min<size_t>(bytes_max_, kSpilledBytesMin);
  }
  static int64_t TotalBytes() { return total_.load(std::memory_order_relaxed); }

  // The error for an operator that holds too much and cannot spill.
  absl::Status Refuse() const {
    if (counted_ <= static_cast<int64_t>(bytes_max_) && AllTogetherExceeded()) {
      return Error(ErrorCode::kExceededMemoryLimit,
                   "{} cannot hold more rows: all open cursors together hold {} bytes", name_,
                   TotalBytes());
    }
    if (disk_use_allowed_) {
      return Error(ErrorCode::kExceededMemoryLimit,
                   "{} exceeded the memory limit of {} bytes and cannot spill to disk", name_,
                   bytes_max_);
    }
    return Error(ErrorCode::kQueryExceededMemoryLimitNoDiskUseAllowed,
                 "{} exceeded the memory limit of {} bytes, but did not opt in to external "
                 "processing; pass allowDiskUse:true to opt in",
                 name_, bytes_max_);
  }

 private:
  static constexpr int64_t kStepBytes = 16 << 10;  // smaller changes are not counted at once

  static constexpr size_t kSpilledBytesMin = 64 << 10;  // when all together hold too much

  static bool AllTogetherExceeded() { return TotalBytes() > kTotalBytesMax; }

  inline static std::atomic<int64_t> total_{0};
  const size_t bytes_max_;
  const bool disk_use_allowed_;
  const bool may_spill_;
  const std::string_view name_;
  mutable int64_t counted_ = 0;  // this operator's part of total_
};

}  // namespace evenkeel::query
