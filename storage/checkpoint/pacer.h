// Spreads the writing of a memory table over the time until the next one is full. Pure: time comes
// in, waits go out.
#pragma once

#include <absl/time/time.h>

#include <cstddef>
#include <cstdint>

namespace evenkeel::storage {

class Pacer {
 public:
  // A flush begins at `now`. `waiting_tables` counts the tables that wait behind it.
  void Begin(absl::Time now, size_t waiting_tables);
  // How long to wait when `done` of `total` keys are written.
  absl::Duration WaitAt(absl::Time now, uint64_t done, uint64_t total) const;
  // The size of the next transaction: small while there is time, so that its sync holds up the log
  // only shortly.
  size_t DirtyPagesMax() const { return hurry_ ? pages_max_hurry() : kPagesMaxCalm; }
  // More tables wait now: no more waits in this flush.
  void Hurry() { hurry_ = true; }
  bool hurried() const { return hurry_; }

  static size_t pages_max_hurry();

 private:
  static constexpr size_t kPagesMaxCalm = 1000;

  absl::Time previous_begin_ = absl::InfinitePast();
  absl::Time begin_ = absl::InfinitePast();
  absl::Duration target_;
  bool hurry_ = false;
};

}  // namespace evenkeel::storage
