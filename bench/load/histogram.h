// Counts durations in buckets whose width grows with the value, so that any percentile is right to
// within two percent.
//
// One thread records; the owner merges the threads' histograms afterwards.
#pragma once

#include <absl/time/time.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace evenkeel::bench {

class Histogram {
 public:
  void Record(absl::Duration duration);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  absl::Duration max() const { return absl::Nanoseconds(max_); }
  // Zero when nothing was recorded.
  absl::Duration Mean() const;
  // The upper end of the bucket that holds the value of this rank, at most max(). `rank` is in [0,
  // 1].
  absl::Duration Percentile(double rank) const;

 private:
  static constexpr int kStepBits = 6;  // 64 buckets for each power of two
  static constexpr size_t kBucketCount = (64 - kStepBits + 1) << kStepBits;

  static size_t BucketOf(uint64_t nanos);
  static uint64_t UpperEnd(size_t bucket);

  std::array<uint64_t, kBucketCount> buckets_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace evenkeel::bench
