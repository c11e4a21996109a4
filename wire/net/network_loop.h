// What the connections of one loop share: the watch, counters, and a limit on log lines.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <optional>

#include "wire/net/watch.h"

namespace evenkeel::wire {

// Written by the loop's thread only, read by any.
class LoopCounter {
 public:
  void Add(uint64_t n) { value_.store(Get() + n, std::memory_order_relaxed); }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Lets a few log lines a second through, so that broken clients cannot fill the disk. One thread.
class LogLimiter {
 public:
  explicit LogLimiter(int lines_per_second_max = 10)
      : lines_per_second_max_(lines_per_second_max) {}

  // Nothing when the line must be dropped, else how many were dropped before it.
  std::optional<uint64_t> Admit();
  // The same in a given second.
  std::optional<uint64_t> AdmitAt(int64_t second);

 private:
  const int lines_per_second_max_;
  int64_t second_ = 0;
  int lines_ = 0;
  uint64_t dropped_ = 0;
};

struct NetworkLoop {
  NetworkLoop(boost::asio::any_io_executor where, absl::Duration watch_interval)
      : executor(where), watch(where, watch_interval) {}

  const boost::asio::any_io_executor executor;
  Watch watch;
  LogLimiter log_limiter;
  LoopCounter requests;
  LoopCounter requests_ended;
  LoopCounter bytes_in;
  LoopCounter bytes_out;
};

}  // namespace evenkeel::wire
