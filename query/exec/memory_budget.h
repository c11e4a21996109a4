// The memory that one blocking operator may hold.
//
// A place for spilling: an operator that can write runs to disk asks Exceeded and makes room
// instead of calling Refuse.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <string_view>

#include "base/status.h"
#include "query/context.h"

namespace evenkeel::query {

class MemoryBudget {
 public:
  // `operator_name` ("$sort") must be a literal.
  MemoryBudget(const QueryContext& context, std::string_view operator_name)
      : bytes_max_(context.memory_bytes_max),
        may_spill_(context.allow_disk_use),
        name_(operator_name) {}

  bool Exceeded(size_t held_bytes) const { return held_bytes > bytes_max_; }
  size_t bytes_max() const { return bytes_max_; }
  bool may_spill() const { return may_spill_; }
  // The error for an operator that holds too much and cannot spill.
  absl::Status Refuse() const {
    if (may_spill_) {
      return Error(ErrorCode::kExceededMemoryLimit,
                   "{} exceeded the memory limit of {} bytes; spilling to disk is not supported",
                   name_, bytes_max_);
    }
    return Error(ErrorCode::kQueryExceededMemoryLimitNoDiskUseAllowed,
                 "{} exceeded the memory limit of {} bytes, but did not opt in to external "
                 "processing; pass allowDiskUse:true to opt in",
                 name_, bytes_max_);
  }

 private:
  size_t bytes_max_;
  bool may_spill_;
  std::string_view name_;
};

}  // namespace evenkeel::query
