// Looks after the connections of one loop: peers that have gone while their request runs, frames
// and replies that take too long, and the end of the server.
//
// One timer per loop and one poll for all running requests, so that a request itself costs no timer
// and no system call. Thread: the loop's.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/time/time.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/async/byte_budget.h"

namespace evenkeel::wire {

// What a connection is doing, as the watch needs to know it.
enum class Phase : uint8_t {
  kIdle,       // nothing has arrived
  kReading,    // a frame has begun
  kWaiting,    // for memory to read the rest
  kHandling,   // a request runs and its client waits for the reply
  kUnwatched,  // a request runs whose client waits for nothing
  kWriting,    // the peer is slow to take a reply
};

// The part of a connection that the watch sees.
class Watched {
 public:
  virtual ~Watched() = default;
  virtual int NativeHandle() = 0;
  virtual void PeerGone() = 0;     // the peer has closed while a request runs
  virtual void TookTooLong() = 0;  // the phase's time is over
  virtual void Stop() = 0;         // ends after the request that runs, now if none does
  virtual void Abort() = 0;        // ends at once

 private:
  friend class Watch;
  Phase phase_ = Phase::kIdle;
  bool busy_ = false;       // in the watch's list
  uint32_t ticks_ = 0;      // of the watch since the phase began
  uint32_t ticks_max_ = 0;  // for kReading and kWriting
};

class Watch {
 public:
  Watch(boost::asio::any_io_executor executor, absl::Duration interval);

  // While `budget` is overdrawn, a reply may be under way for `time_max` only: its memory is
  // needed.
  void SetPressure(const base::ByteBudget* budget, absl::Duration time_max);

  void Add(Watched* connection);
  void Remove(Watched* connection);
  // Begins a phase; `time_max` bounds kReading and kWriting.
  void Enter(Watched* connection, Phase phase, absl::Duration time_max = absl::ZeroDuration());

  // No timer fires any more; afterwards the watch may be destroyed in another thread.
  void Close();
  void StopAll();
  void AbortAll();
  size_t count() const { return all_.size(); }

 private:
  void Arm();
  void Tick();
  void PollPeers(const std::vector<Watched*>& running);
  bool IsLate(const Watched& connection) const;
  uint32_t TicksOf(absl::Duration time) const;

  boost::asio::steady_timer timer_;
  std::shared_ptr<Watch*> self_ = std::make_shared<Watch*>(this);  // holds null once closed
  const absl::Duration interval_;
  const base::ByteBudget* budget_ = nullptr;
  uint32_t pressure_ticks_max_ = 0;
  bool armed_ = false;
  absl::flat_hash_set<Watched*> all_;
  std::vector<Watched*> busy_;  // not idle, or idle for less than a tick
};

}  // namespace evenkeel::wire
